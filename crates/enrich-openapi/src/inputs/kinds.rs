//! What the OpenAPI document says about each input kind.

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
        At least one character of it has to be visible.",
};

const DOMAIN: Described = Described {
    name: "Domain",
    format: "domain",
    description: "\
        A domain like `acme.example`: bare, or in a URL with scheme, user, port and path; any \
        case, `www.` and a trailing dot go; internationalised names in either form. No IP \
        address, no single label.",
};

const COMPANY_NAME_OR_DOMAIN: Described = Described {
    name: "CompanyNameOrDomain",
    format: "company-name-or-domain",
    description: "\
        A domain like `acme.example`, or a company's name. What can be a domain is looked up \
        as one first, then as a name.",
};

const EMAIL_ADDRESS: Described = Described {
    name: "EmailAddress",
    format: "email-address",
    description: "\
        An email address in upper or lower case, bare (`ada@acme.example`) or with a name before \
        it (`Ada <ada@acme.example>`).",
};

const PHONE_NUMBER: Described = Described {
    name: "PhoneNumber",
    format: "phone-number",
    description: "\
        A phone number in international form: with `+` or `00`, or the digits alone; spaces, \
        dots, dashes and brackets are read over. It has to be a possible number. A national \
        number is read too where the operator has set a country for the account.",
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
        A person's first and last name: `Ada Lovelace` or `Lovelace, Ada`; middle names and \
        initials may be there, case and diacritics don't matter.",
};

const NAME_PART: Described = Described {
    name: "NamePart",
    format: "name-part",
    description: "\
        A person's first name, or the last: with at least one letter; case and diacritics \
        don't matter.",
};

const COUNTRY: Described = Described {
    name: "Country",
    format: "country",
    description: "\
        A country by its English name or a usual other one (`Germany`, `USA`, `Holland`), or by \
        its ISO 3166-1 alpha-2 or alpha-3 code, in upper or lower case.",
};

const COUNTRY_CODE: Described = Described {
    name: "CountryCode",
    format: "country-code",
    description: "\
        A country by its ISO 3166-1 alpha-2 code in upper or lower case; also `UK`, `EL` and \
        `XK`.",
};

const LIMIT: Described = Described {
    name: "Limit",
    format: "",
    description: "\
        A whole number, at least 1, as a number or as decimal digits in a string. One larger \
        than the list limits nothing.",
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
