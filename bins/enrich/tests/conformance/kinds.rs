//! Tests the interface's rules for each kind of input, such as a phone number: every accepted
//! spelling of an input finds the same answer, and an invalid input gets the status 422, never a
//! miss.

use serde_json::json;

use crate::world::{Account, World};

#[test]
fn domains_are_read_however_they_are_written() {
    let world = World::new(&[]);
    let account = world.account(100);
    let booking = |text: &str| finds(&world, &account, DTC, text, "Booking.com");
    for text in [
        "BOOKING.com",
        "booking.com.",
        "www.booking.com",
        "WWW.Booking.Com.",
        "http://booking.com",
        "https://www.booking.com/",
        "https://booking.com:8443/hotel/index.html?x=1&y=2#top",
        "HTTPS://Booking.com",
        "booking.com/about/us",
        "booking.com:443",
        "booking.com?x=1",
        "https://guest:secret@booking.com/",
        "secure.booking.com",
        "https://a.b.c.booking.com/x",
    ] {
        booking(text);
    }
    for text in ["gęśla-studio.example", "xn--gla-studio-enb60f.example", "GĘŚLA-Studio.Example"]
    {
        finds(&world, &account, DTC, text, "Gęśla Studio sp. z o.o.");
    }
    for text in ["https://www.gęśla-studio.example/ó?x", "XN--GLA-STUDIO-ENB60F.example"] {
        finds(&world, &account, DTC, text, "Gęśla Studio sp. z o.o.");
    }
    for text in ["nestle.co.uk", "shop.nestle.co.uk", "nestle.de", "https://www.nestle.com.br"] {
        finds(&world, &account, DTC, text, "Nestlé");
    }
    for text in ["quillmark-fr.example", "quillmark-analytics.example", "x.quillmark-uk.example"] {
        finds(&world, &account, DTC, text, "Quillmark Analytics GmbH");
    }
    misses(&world, &account, DTC, "unknown.tld-that-is-new");
    refuses_each(&world, &account, DTC, &NO_DOMAINS);
    for (path, field) in [
        ("/v1/dte", "companyDomain"),
        ("/v1/dtl", "companyDomain"),
        ("/v1/dtp", "domain"),
        ("/v1/dtpp", "companyDomain"),
        ("/v1/dtpr", "domain"),
        ("/v2/services/domain_to_name", "domain"),
    ] {
        for text in NO_DOMAINS {
            world.refuses(&account, path, &[(field, text)], &[field]);
        }
    }
    world.finish();
}

#[test]
fn emails_are_read_however_they_are_written() {
    let world = World::new(&[]);
    let account = world.account(100);
    for text in [
        "SIAN@Northmoor-Lanterns.EXAMPLE",
        "Sian <sian@northmoor-lanterns.example>",
        "Siân O'Connor-Price <Sian@northmoor-lanterns.example>",
        "\"O'Connor-Price, Siân\" <sian@northmoor-lanterns.example>",
        "<sian@northmoor-lanterns.example>",
        "sian+news@northmoor-lanterns.example",
        "Sian <sian+a+b@northmoor-lanterns.example>",
    ] {
        finds(&world, &account, ETL, text, "linkedin.com/in/sian-oconnor-price-example");
    }
    for text in ["kontakt@gęśla-studio.example", "kontakt@xn--gla-studio-enb60f.example"] {
        finds(&world, &account, ETC, text, "Gęśla Studio sp. z o.o.");
    }
    misses(&world, &account, ETL, "nobody+x@northmoor-lanterns.example");
    for endpoint in [ETL, ETC] {
        refuses_each(
            &world,
            &account,
            endpoint,
            &[
                "sian",
                "sian@",
                "@northmoor-lanterns.example",
                "sian@@northmoor-lanterns.example",
                "sian@a@northmoor-lanterns.example",
                "si an@northmoor-lanterns.example",
                "sian@north moor.example",
                "Sian <sian@northmoor-lanterns.example",
                "Sian <>",
                "sian@-.example",
                "northmoor-lanterns.example",
            ],
        );
    }
    world.finish();
}

#[test]
fn phones_are_read_however_they_are_written() {
    let world = World::new(&[]);
    let account = world.account(100);
    let person = r#""firstName":"Siân","lastName":"O'Connor-Price","country":"United Kingdom""#;
    let gross = r#""firstName":"Jürgen","lastName":"Groß","country":"Germany""#;
    let mti = |text: &str, person: &str| {
        let template = format!(
            "{{\"query\":{},{person},\"credit_count\":<balance>,\"confidence_level\":<confidence>}}",
            json!(text)
        );
        world.answers(&account, "/v1/mti", &[("phoneNumber", text)], &template, 1);
    };
    for text in [
        "+44 7700 900123",
        "+44-7700-900-123",
        "+44.7700.900.123",
        "+44 (7700) 900123",
        "(+44) 7700 900123",
        "00447700900123",
        "0044 7700 900 123",
        "447700900123",
        "44 7700 900123",
    ] {
        mti(text, person);
    }
    // The numbers that `/v1/itm` returns are accepted as inputs, in any spelling. Both the mobile
    // number and the landline number belong to the person `gross`.
    for text in ["491713920015", "+493023125220", "0049 30 23125-220"] {
        mti(text, gross);
    }
    for text in ["+493023125200", "+12025550110"] {
        let template = format!(
            "{{\"query\":\"{text}\",\"firstName\":\"\",\"lastName\":\"\",\"country\":\"\",\
             \"credit_count\":<balance>,\"confidence_level\":0}}"
        );
        world.answers(&account, "/v1/mti", &[("phoneNumber", text)], &template, 0);
    }
    for text in
        ["hello", "+", "00", "12", "+4477", "+999 123 456 789", "+44770090012345678901", "()"]
    {
        world.refuses(&account, "/v1/mti", &[("phoneNumber", text)], &["phoneNumber"]);
    }
    world.finish();
}

#[test]
fn facebook_pages_are_read_however_they_are_written() {
    let world = World::new(&[]);
    let account = world.account(100);
    for text in [
        "https://www.facebook.com/petrobras",
        "http://facebook.com/petrobras/",
        "https://m.facebook.com/petrobras",
        "https://pt-br.facebook.com/petrobras?ref=page",
        "facebook.com/petrobras#top",
        "https://www.facebook.com/petrobras/about/",
        "FACEBOOK.com/Petrobras",
        "fb.com/petrobras",
        "https://www.fb.com/petrobras",
        "petrobras",
        "@petrobras",
    ] {
        finds(&world, &account, FTD, text, "petrobras.com.br");
    }
    for text in [
        "facebook.com/profile.php?id=900000000000042",
        "https://m.facebook.com/profile.php?id=900000000000042&ref=x",
        "https://www.facebook.com/profile.php?ref=x&id=900000000000042",
    ] {
        finds(&world, &account, FTD, text, "billabrook.example");
    }
    for text in [
        "facebook.com/pages/Sosnovy-Mayak-Example/900000000000077",
        "https://www.facebook.com/pages/Another-Name/900000000000077?sk=info",
    ] {
        finds(&world, &account, FTD, text, "sosnovy-mayak.example");
    }
    refuses_each(
        &world,
        &account,
        FTD,
        &[
            "https://twitter.com/petrobras",
            "https://example.com/petrobras",
            "notfacebook.com/petrobras",
            "https://www.facebook.com/",
            "facebook.com",
            "facebook.com/groups/1234567",
            "facebook.com/watch",
            "https://www.facebook.com/watch/?v=1",
            "facebook.com/home",
            "facebook.com/profile.php",
            "petro bras",
        ],
    );
    world.finish();
}

#[test]
fn instagram_and_twitter_pages_are_read_however_they_are_written() {
    let world = World::new(&[]);
    let account = world.account(100);
    for text in [
        "https://www.instagram.com/orsted/",
        "http://instagram.com/orsted",
        "instagram.com/ORSTED",
        "https://www.instagram.com/orsted/reels/",
        "https://instagram.com/orsted?igshid=1#x",
        "https://m.instagram.com/orsted",
        "orsted",
        "@orsted",
        "@Orsted",
    ] {
        finds(&world, &account, ITD, text, "orsted.com");
    }
    refuses_each(
        &world,
        &account,
        ITD,
        &[
            "https://www.instagram.com/p/CxExample/",
            "instagram.com",
            "facebook.com/orsted",
            "or sted",
        ],
    );
    for text in [
        "https://twitter.com/Spotify",
        "https://www.twitter.com/spotify/",
        "https://mobile.twitter.com/spotify",
        "x.com/Spotify",
        "https://www.x.com/spotify?lang=en",
        "https://x.com/spotify/status/1234567890",
        "spotify",
        "@Spotify",
    ] {
        finds(&world, &account, TTD, text, "spotify.com");
    }
    for text in ["twitter.com/northmoor_exmpl", "x.com/NORTHMOOR_exmpl", "northmoor_exmpl"] {
        finds(&world, &account, TTD, text, "northmoor-lanterns.example");
    }
    refuses_each(
        &world,
        &account,
        TTD,
        &["https://x.com/home", "x.com", "https://twitter.com/", "instagram.com/spotify", "a/b/c"],
    );
    world.finish();
}

#[test]
fn youtube_pages_are_read_however_they_are_written() {
    let world = World::new(&[]);
    let account = world.account(100);
    for text in [
        "https://www.youtube.com/@Quillmark-Analytics-Example/videos",
        "m.youtube.com/@quillmark-analytics-example",
        "@quillmark-analytics-example",
        "quillmark-analytics-example",
        "youtube.com/channel/UCExampleQuillmark000000",
        "https://www.youtube.com/channel/UCExampleQuillmark000000/about?x=1",
        "UCExampleQuillmark000000",
    ] {
        finds(&world, &account, YTD, text, "quillmark.example");
    }
    for text in ["https://youtube.com/user/NorthmoorLanternsExample", "northmoorlanternsexample"] {
        finds(&world, &account, YTD, text, "northmoor-lanterns.example");
    }
    for text in
        ["https://www.youtube.com/c/BillabrookTideExample", "youtube.com/c/billabrooktideexample"]
    {
        finds(&world, &account, YTD, text, "billabrook.example");
    }
    // In the id of a YouTube channel, `e` and `E` are different letters. In the name of a YouTube
    // page, upper and lower case are equal.
    for text in ["UCexampleQuillmark000000", "youtube.com/channel/UCexampleQuillmark000000"] {
        misses(&world, &account, YTD, text);
    }
    refuses_each(
        &world,
        &account,
        YTD,
        &[
            "https://www.youtube.com/watch?v=Example0000",
            "https://www.youtube.com/",
            "youtube.com",
            "facebook.com/quillmark",
            "vimeo.com/quillmark",
        ],
    );
    world.finish();
}

#[test]
fn linkedin_company_pages_are_read_however_they_are_written() {
    let world = World::new(&[]);
    let account = world.account(100);
    for text in [
        "https://www.linkedin.com/company/nestle-s.a./",
        "http://linkedin.com/company/nestle-s.a.",
        "https://ch.linkedin.com/company/nestle-s.a.?trk=public",
        "https://www.linkedin.com/company/nestle-s.a./about/#x",
        "LinkedIn.com/company/Nestle-S.A.",
        "m.linkedin.com/company/nestle-s.a.",
        "nestle-s.a.",
        "@nestle-s.a.",
    ] {
        finds(&world, &account, LTD, text, "nestle.com");
    }
    for text in [
        "linkedin.com/company/loréal",
        "https://www.linkedin.com/company/lor%C3%A9al/",
        "linkedin.com/company/lor%c3%a9al",
        "LORÉAL",
    ] {
        finds(&world, &account, LTD, text, "loreal.com");
    }
    for text in [
        "linkedin.com/company/tintenmark-example",
        "linkedin.com/showcase/tintenmark-example",
        "https://www.linkedin.com/school/quillmark-analytics-example/",
    ] {
        finds(&world, &account, LTD, text, "quillmark.example");
    }
    refuses_each(
        &world,
        &account,
        LTD,
        &[
            "linkedin.com/in/juergen-gross-example",
            "linkedin.com/groups/1234567",
            "https://www.linkedin.com/",
            "linkedin.com/company/",
            "linkedin.com/feed/",
            "linkedin.com/home",
            "twitter.com/nestle",
        ],
    );
    world.finish();
}

#[test]
fn profiles_are_read_however_they_are_written() {
    let world = World::new(&[]);
    let account = world.account(100);
    for text in [
        "https://www.linkedin.com/in/juergen-gross-example/",
        "http://linkedin.com/in/juergen-gross-example",
        "https://de.linkedin.com/in/juergen-gross-example?trk=x",
        "linkedin.com/pub/juergen-gross-example",
        "https://www.linkedin.com/in/juergen-gross-example/details/experience/",
        "LinkedIn.com/in/Juergen-Gross-Example",
        "linkedin.com/in/juergen%2Dgross%2Dexample",
        "juergen-gross-example",
    ] {
        let middle = r#""first_name":"Jürgen","last_name":"Groß","job_company_name":"Quillmark Analytics GmbH","job_title":"Geschäftsführer""#;
        let template = format!(
            "{{\"query\":{},{middle},\"credit_count\":<balance>,\"confidence_level\":<confidence>}}",
            json!(text)
        );
        world.answers(&account, "/v1/lti", &[("linkedin", text)], &template, 1);
    }
    for path in ["/v1/lti", "/v1/cone"] {
        for text in [
            "linkedin.com/company/quillmark-analytics-example",
            "linkedin.com/school/quillmark-analytics-example",
            "linkedin.com/in/",
            "https://www.linkedin.com/",
            "twitter.com/in/juergen-gross-example",
            "example.com/in/juergen-gross-example",
        ] {
            world.refuses(&account, path, &[("linkedin", text)], &["linkedin"]);
        }
    }
    world.finish();
}

/// The path of an endpoint, the name of its input field and the name of its answer field.
type Asked = (&'static str, &'static str, &'static str);

const DTC: Asked = ("/v1/dtc", "companyWebsite", "url");
const ETC: Asked = ("/v1/etc", "companyEmail", "company_name");
const ETL: Asked = ("/v1/etl", "email", "linkedin");
const FTD: Asked = ("/v1/ftd", "facebookURL", "companyDomain");
const ITD: Asked = ("/v1/itd", "instagramURL", "companyDomain");
const TTD: Asked = ("/v1/ttd", "twitterURL", "companyDomain");
const YTD: Asked = ("/v1/ytd", "youtubeURL", "companyDomain");
const LTD: Asked = ("/v1/ltd", "companyLinkedin", "domain");

const NO_DOMAINS: [&str; 15] = [
    "localhost",
    "com",
    "https://localhost:8080/x",
    "192.0.2.10",
    "https://192.0.2.10/",
    "[2001:db8::1]",
    "2001:db8::1",
    "http://[2001:db8::1]:80/",
    "not a domain",
    "booking..com",
    ".",
    "https://",
    "-.example",
    "book!ng.com",
    "booking.com, nestle.com",
];

fn finds(world: &World, account: &Account, asked: Asked, text: &str, answer: &str) {
    let (path, field, name) = asked;
    let template = format!(
        "{{\"query\":{},\"{name}\":{},\"credit_count\":<balance>,\"confidence_level\":<confidence>}}",
        json!(text),
        json!(answer)
    );
    world.answers(account, path, &[(field, text)], &template, 1);
}

fn misses(world: &World, account: &Account, asked: Asked, text: &str) {
    let (path, field, name) = asked;
    let template = format!(
        "{{\"query\":{},\"{name}\":\"\",\"credit_count\":<balance>,\"confidence_level\":0}}",
        json!(text)
    );
    world.answers(account, path, &[(field, text)], &template, 0);
}

fn refuses_each(world: &World, account: &Account, asked: Asked, texts: &[&str]) {
    let (path, field, _) = asked;
    for text in texts {
        world.refuses(account, path, &[(field, text)], &[field]);
    }
}
