//! The OpenAPI descriptions of the input kinds, such as company name, domain and email address.

use enrich_text::Network;
use enrich_wire::Kind;

/// The name of an input kind's schema, and the schema's `format` and `description`.
pub(super) struct Described {
    pub(super) name: &'static str,
    pub(super) format: &'static str,
    pub(super) description: &'static str,
}

pub(super) fn described(kind: Kind) -> &'static Described {
    match kind {
        Kind::CompanyName => &COMPANY_NAME,
        Kind::Domain => &DOMAIN,
        Kind::CompanyNameOrDomain => &COMPANY_NAME_OR_DOMAIN,
        Kind::EmailAddress => &EMAIL_ADDRESS,
        Kind::PhoneNumber => &PHONE_NUMBER,
        Kind::CompanyPage(network) => company_page(network),
        Kind::PersonPage => &PERSON_PAGE,
        Kind::PersonName => &PERSON_NAME,
        Kind::NamePart => &NAME_PART,
        Kind::Country => &COUNTRY,
        Kind::CountryCode => &COUNTRY_CODE,
        Kind::Limit => &LIMIT,
    }
}

fn company_page(network: Network) -> &'static Described {
    match network {
        Network::LinkedIn => &LINKEDIN_PAGE,
        Network::Facebook => &FACEBOOK_PAGE,
        Network::Twitter => &TWITTER_PAGE,
        Network::Youtube => &YOUTUBE_PAGE,
        Network::Instagram => &INSTAGRAM_PAGE,
    }
}

const COMPANY_NAME: Described = Described {
    name: "CompanyName",
    format: "company-name",
    description: "\
        A company's name in any script, case and punctuation, with or without its legal form. \
        At least one character must be visible.",
};

const DOMAIN: Described = Described {
    name: "Domain",
    format: "domain",
    description: "\
        A domain like `acme.example`, or a URL that contains it; upper or lower case, with or \
        without `www.` and a trailing dot. An internationalised name may be in Unicode or in \
        ASCII form (`xn--…`). An IP address or a single label is not a domain.",
};

const COMPANY_NAME_OR_DOMAIN: Described = Described {
    name: "CompanyNameOrDomain",
    format: "company-name-or-domain",
    description: "\
        A domain like `acme.example`, or a company's name. A text that can be a domain is looked \
        up as a domain first, and then as a name.",
};

const EMAIL_ADDRESS: Described = Described {
    name: "EmailAddress",
    format: "email-address",
    description: "\
        An email address in upper or lower case, alone (`ada@acme.example`) or after a name \
        (`Ada <ada@acme.example>`).",
};

const PHONE_NUMBER: Described = Described {
    name: "PhoneNumber",
    format: "phone-number",
    description: "\
        A phone number in international form: with `+` or `00`, or only the digits. Spaces, \
        dots, dashes and brackets are ignored. The number must be possible in its country. A \
        national number is accepted if the operator has set a country for the account.",
};

const PERSON_PAGE: Described = Described {
    name: "LinkedInProfile",
    format: "linkedin-profile",
    description: "\
        A person's LinkedIn profile: its URL (`linkedin.com/in/ada`; with or without scheme and \
        `www.`) or the handle alone, with or without `@`. Not a company's page.",
};

const PERSON_NAME: Described = Described {
    name: "PersonName",
    format: "person-name",
    description: "\
        A person's first and last name: `Ada Lovelace` or `Lovelace, Ada`; it may have \
        middle names and initials. Case and diacritics don't matter.",
};

const NAME_PART: Described = Described {
    name: "NamePart",
    format: "name-part",
    description: "\
        A person's first name or last name, with at least one letter. Case and diacritics don't \
        matter.",
};

const COUNTRY: Described = Described {
    name: "Country",
    format: "country",
    description: "\
        The English name of a country or another usual name (`Germany`, `USA`, `Holland`), or its \
        ISO 3166-1 alpha-2 or alpha-3 code, in upper or lower case.",
};

const COUNTRY_CODE: Described = Described {
    name: "CountryCode",
    format: "country-code",
    description: "\
        The ISO 3166-1 alpha-2 code of a country in upper or lower case; also `UK`, `EL` and \
        `XK`.",
};

const LIMIT: Described = Described {
    name: "Limit",
    format: "",
    description: "\
        A whole number from 1, as a number or as decimal digits in a string. A number larger than \
        the list has no effect.",
};

const LINKEDIN_PAGE: Described = Described {
    name: "LinkedInPage",
    format: "linkedin-page",
    description: "\
        A company's LinkedIn page: its URL (`/company/`, `/school/` or `/showcase/`; with or \
        without scheme and `www.`) or the handle alone, with or without `@`. Not a person's \
        profile.",
};

const FACEBOOK_PAGE: Described = Described {
    name: "FacebookPage",
    format: "facebook-page",
    description: "\
        A company's Facebook page: its URL on `facebook.com` or `fb.com` (also \
        `profile.php?id=…` and `/pages/…/ID`; with or without scheme and `www.`) or the handle \
        alone, with or without `@`.",
};

const TWITTER_PAGE: Described = Described {
    name: "TwitterPage",
    format: "twitter-page",
    description: "\
        A company's Twitter page: its URL on `twitter.com` or `x.com` (with or without scheme \
        and `www.`) or the handle alone, with or without `@`.",
};

const YOUTUBE_PAGE: Described = Described {
    name: "YouTubePage",
    format: "youtube-page",
    description: "\
        A company's YouTube page: its URL (`/@…`, `/c/`, `/user/`, `/channel/`; with or \
        without scheme and `www.`), the handle alone, with or without `@`, or the channel's \
        id.",
};

const INSTAGRAM_PAGE: Described = Described {
    name: "InstagramPage",
    format: "instagram-page",
    description: "\
        A company's Instagram page: its URL (with or without scheme and `www.`) or the handle \
        alone, with or without `@`.",
};
