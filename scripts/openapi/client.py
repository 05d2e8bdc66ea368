"""Calls three endpoints through the client that openapi-python-client makes from the document."""

import sys

from enrich_client import AuthenticatedClient, Client
from enrich_client.api.version_1 import v1_cuf, v1_dte
from enrich_client.api.version_2 import v2_name_to_domain
from enrich_client.models import (
    V1CufAnswer,
    V1CufRequest,
    V1DteAnswer,
    V1DteForm,
    V2NameToDomainAnswer,
    V2NameToDomainForm,
)

address, key = sys.argv[1:]

with Client(base_url=address) as client:
    body = V1CufRequest(api_key=key, company_name="Telefónica")
    answer = v1_cuf.sync(client=client, body=body)
    assert isinstance(answer, V1CufAnswer) and answer.url == "telefonica.com", answer
    print("ok    /v1/cuf, JSON:", answer.to_dict())

    body = V1DteForm(api_key=key, company_domain="orbeval.example", limit="6")
    answer = v1_dte.sync(client=client, body=body)
    assert isinstance(answer, V1DteAnswer) and len(answer.emails) == 6, answer
    print("ok    /v1/dte, a form:", answer.to_dict())

client = AuthenticatedClient(
    base_url=address, token=key, prefix="", auth_header_name="x-api-key"
)
with client:
    body = V2NameToDomainForm(company_name="Nestlé", country_code="CH")
    answer = v2_name_to_domain.sync(client=client, body=body)
    assert isinstance(answer, V2NameToDomainAnswer) and answer.data.domain == "nestle.ch", answer
    print("ok    /v2/services/name_to_domain, a form:", answer.to_dict())
