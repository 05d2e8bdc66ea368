"""Tells schemathesis what the document's own formats look like, and a valid key.

Each format generates texts as people write them. A well-formed key is replaced by a valid one, so that
requests pass the check of the key. A malformed or missing key stays.
"""

import os
import re
import uuid

import schemathesis
from hypothesis import strategies as st

KEY = os.environ["ENRICH_KEY"]
KEY_SHAPE = re.compile(r"\s*enr_live_[0-9A-Za-z]{38}\s*")

LETTERS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)
WORDS = st.text(
    alphabet=st.characters(categories=("Lu", "Ll", "Lo", "Nd")), min_size=1, max_size=20
)
KNOWN_COMPANIES = ["Telefónica", "Orbeval", "Quillmark Analytics GmbH", "Nestlé", "Copperlane Works"]
KNOWN_DOMAINS = ["orbeval.example", "quillmark.example", "telefonica.com", "nestle.ch"]

names = st.sampled_from(KNOWN_COMPANIES) | st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
hosts = st.sampled_from(KNOWN_DOMAINS) | st.builds(
    "{}.{}".format, LETTERS, st.sampled_from(["example", "com", "co.uk", "de", "bücher.example"])
)
domains = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "www.", "https://", "HTTP://www.", "//", "https://ada@"]),
    hosts,
    st.sampled_from(["", ".", "/", ":8080", "/a/b?c=d#e"]),
)
emails = st.builds("{}@{}".format, LETTERS, hosts) | st.builds(
    "{} <{}+{}@{}>".format, LETTERS, LETTERS, LETTERS, hosts
)
phones = st.sampled_from(
    ["+12025550123", "0049 30 23125 001", "+49 (30) 23125-001", "12025550123", "+44 20 7946 0958"]
)


def pages(*before):
    handles = LETTERS.map("q{}".format)
    before = st.sampled_from(["", "@", *before])
    return st.builds("{}{}{}".format, before, handles, st.sampled_from(["", "/"]))


formats = {
    "company-name": names,
    "domain": domains,
    "company-name-or-domain": names | domains,
    "email-address": emails,
    "phone-number": phones,
    "linkedin-page": pages("linkedin.com/company/", "https://www.linkedin.com/school/"),
    "facebook-page": pages("facebook.com/", "https://m.facebook.com/", "fb.com/"),
    "twitter-page": pages("twitter.com/", "https://x.com/"),
    "instagram-page": pages("instagram.com/", "https://www.instagram.com/"),
    "youtube-page": pages("youtube.com/@", "https://www.youtube.com/c/", "youtube.com/user/"),
    "linkedin-profile": pages("linkedin.com/in/", "https://de.linkedin.com/in/"),
    "person-name": st.sampled_from(["Ada Lovelace", "Lovelace, Ada", "Zoë Brandstätter", "王小明"])
    | st.builds("Q{} Z{}son".format, LETTERS, LETTERS),
    "name-part": st.sampled_from(["Ada", "Lovelace", "Zoë"]) | LETTERS.map("Q{}".format),
    "country": st.sampled_from(["Germany", "germany", "USA", "Holland", "de", "CHE", "UK"]),
    "country-code": st.sampled_from(["DE", "de", "CH", "UK", "EL", "XK", "gb"]),
}
# All texts generated from a format.
made = set()


def noted(text):
    made.add(text.strip())
    return text


for name, strategy in formats.items():
    schemathesis.openapi.format(name, strategy.map(noted))


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops failures that only show that schemathesis does not know the formats.

    It generates some texts from the pattern only; they may not fit the format and be refused. And as a
    text that violates a format it uses any text, which may fit the format and be accepted.
    """
    if failure.code == "ST202" and response.status_code == 422 and isinstance(case.body, dict):
        refused = response.json()
        refused = refused.get("errors", refused).get("fields", {})
        texts = [case.body.get(field) for field in refused if field != "limit"]
        is_known = [isinstance(text, str) and text.strip() not in made for text in texts]
        return not (is_known and len(texts) == len(refused) and all(is_known))
    if failure.code == "ST201" and case.meta is not None:
        mutations = getattr(case.meta.phase.data, "mutations", ())
        keywords = {keyword for mutation in mutations for keyword in mutation.keywords}
        return keywords != {"format"}
    return True


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if isinstance(body, dict):
        key = body.get("apiKey")
        if isinstance(key, str) and KEY_SHAPE.fullmatch(key):
            body["apiKey"] = KEY
    headers = case.headers or {}
    # Version 1 has its key in the body; a valid one in the header would replace it.
    if case.path.startswith("/v1/"):
        headers.pop("x-api-key", None)
        (kwargs.get("headers") or {}).pop("x-api-key", None)
    # An idempotency key that is used twice for different questions is refused, so make it unique.
    name = headers.get("Idempotency-Key")
    if isinstance(name, str) and re.fullmatch("[!-~]{1,255}", name):
        headers["Idempotency-Key"] = f"{name[:218]}-{uuid.uuid4()}"
