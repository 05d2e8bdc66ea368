//! Tests of the URLs and handles of companies' pages on social networks.

use Network::{Facebook, Instagram, LinkedIn, Twitter, Youtube};
use enrich_text::{InvalidPage, Network, PageUrl};

fn read(network: Network, text: &str) -> PageUrl {
    PageUrl::parse(network, text).unwrap_or_else(|error| panic!("{network} {text:?}: {error}"))
}

/// Asserts that every text is parsed to the same page: its display form is `shown`, and its key is
/// `key`.
fn check(network: Network, shown: &str, key: &str, texts: &[&str]) {
    for text in texts.iter().chain([&shown]) {
        let page = read(network, text);
        assert_eq!(page.as_str(), shown, "{text:?}");
        assert_eq!(page.key(), format!("{network}:{key}"), "{text:?}");
        assert_eq!(page.handle(), key, "{text:?}");
        assert_eq!(page.network(), network);
    }
}

#[test]
fn a_linkedin_page_is_read_from_every_way_to_write_it() {
    check(
        LinkedIn,
        "linkedin.com/company/acme",
        "acme",
        &[
            "https://www.linkedin.com/company/acme",
            "http://linkedin.com/company/acme/",
            "HTTPS://WWW.LinkedIn.com/COMPANY/acme",
            "www.linkedin.com/company/acme",
            "//www.linkedin.com/company/acme",
            "https://de.linkedin.com/company/acme",
            "https://uk.linkedin.com/company/acme/about",
            "https://m.linkedin.com/company/acme",
            "https://www.linkedin.com/company/acme/posts/?feedView=all",
            "https://www.linkedin.com/company/acme/?trk=x#top",
            "https://www.linkedin.com/company/acme?originalSubdomain=de",
            "https://www.linkedin.com/company/acme/admin/feed/posts/",
            "https://www.linkedin.com:443/company/acme",
            "https://www.linkedin.com/mwlite/company/acme",
            "https://www.linkedin.com/organization-guest/company/acme",
            "linkedin.com//company//acme",
            "company/acme",
            "/company/acme/",
            "acme",
            "acme/",
            "@acme",
            " acme ",
            "%61cme",
            "https://www.linkedin.com/company/\u{200b}acme",
        ],
    );
    check(LinkedIn, "linkedin.com/company/99344183", "99344183", &["99344183"]);
}

#[test]
fn schools_and_showcases_are_pages_and_the_handle_decides() {
    check(
        LinkedIn,
        "linkedin.com/school/Acme-University",
        "acme-university",
        &["school/Acme-University"],
    );
    check(
        LinkedIn,
        "linkedin.com/showcase/acme-cloud",
        "acme-cloud",
        &["https://linkedin.com/showcase/acme-cloud/"],
    );
    let keys = ["company/acme", "school/acme", "showcase/ACME"]
        .map(|text| read(LinkedIn, text).key().to_owned());
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}

#[test]
fn case_is_shown_as_given_and_never_compared() {
    let (one, two) = (read(LinkedIn, "linkedin.com/company/CUFinder"), read(LinkedIn, "cufinder"));
    assert_eq!(one.as_str(), "linkedin.com/company/CUFinder");
    assert_eq!(one.key(), two.key());
    assert_eq!(read(Twitter, "AcmeCorp").key(), read(Twitter, "x.com/acmecorp").key());
}

#[test]
fn a_handle_is_the_same_percent_encoded_or_not() {
    check(
        LinkedIn,
        "linkedin.com/company/ptáček---velkoobchod-a.s.",
        "ptáček---velkoobchod-a.s.",
        &[
            "https://www.linkedin.com/company/pt%C3%A1%C4%8Dek---velkoobchod-a.s.",
            "pt%c3%a1%c4%8dek---velkoobchod-a.s.",
            "ptáček---velkoobchod-a.s.",
        ],
    );
    check(
        LinkedIn,
        "linkedin.com/company/hotels-&-resorts",
        "hotels-&-resorts",
        &["https://www.linkedin.com/company/hotels-%26-resorts/"],
    );
    check(LinkedIn, "linkedin.com/company/100%25-pure", "100%-pure", &["company/100%-pure"]);
    // A letter with an accent is the same in composed and in decomposed form.
    assert_eq!(read(LinkedIn, "cafe\u{301}").key(), read(LinkedIn, "caf\u{e9}").key());
    assert_eq!(read(LinkedIn, "ŠKODA").key(), read(LinkedIn, "škoda").key());
}

#[test]
fn a_facebook_page_is_read_from_every_way_to_write_it() {
    check(
        Facebook,
        "facebook.com/acme",
        "acme",
        &[
            "https://www.facebook.com/acme",
            "https://www.facebook.com/acme/",
            "https://m.facebook.com/acme",
            "https://mbasic.facebook.com/acme",
            "https://de-de.facebook.com/acme",
            "https://es-la.facebook.com/acme/?locale=x",
            "https://web.facebook.com/acme?_rdc=1&_rdr",
            "https://fb.com/acme",
            "https://www.fb.com/acme",
            "fb.me/acme",
            "facebook.com/acme/posts/123",
            "facebook.com/acme/about",
            "facebook.com/pg/acme/about/",
            "https://www.facebook.com/#!/acme",
            "https://business.facebook.com/acme",
            "acme",
            "@acme",
            "facebook.com/@acme",
        ],
    );
}

#[test]
fn dots_stand_in_facebook_handles_and_dont_count() {
    check(
        Facebook,
        "facebook.com/acme.corp",
        "acmecorp",
        &["acme.corp", "@acme.corp", "https://fb.com/acme.corp/"],
    );
    assert_eq!(read(Facebook, "Acme.Corp").key(), read(Facebook, "facebook.com/acmecorp").key());
    assert_eq!(read(Instagram, "acme.corp").key(), "instagram:acme.corp");
}

#[test]
fn a_facebook_page_with_a_number_has_the_same_key_wherever_it_stands() {
    let shown = |text| read(Facebook, text).to_string();
    for text in [
        "https://www.facebook.com/profile.php?id=100064837000",
        "https://m.facebook.com/profile.php?v=info&id=100064837000&x=y",
        "profile.php?id=100064837000",
        "facebook.com/pages/Acme-Corp/100064837000",
        "facebook.com/pages/Acme-Corp/100064837000?fref=ts",
        "https://www.facebook.com/pages/Acme%20Corp/100064837000".replace("%20", "-").as_str(),
        "facebook.com/pages/category/Restaurant/Acme-Corp-100064837000/",
        "facebook.com/people/Acme-Corp/100064837000/",
        "facebook.com/Acme-Corp-100064837000/",
        "facebook.com/p/Acme-Corp-100064837000/",
        "facebook.com/100064837000",
        "100064837000",
    ] {
        assert_eq!(read(Facebook, text).key(), "facebook:100064837000", "{text:?}");
    }
    assert_eq!(
        shown("https://m.facebook.com/profile.php?v=info&id=12"),
        "facebook.com/profile.php?id=12"
    );
    assert_eq!(shown("https://fb.com/pages/Acme/12/?x=y"), "facebook.com/pages/Acme/12");
    assert_eq!(shown("facebook.com/people/Acme/12/about"), "facebook.com/people/Acme/12");
}

#[test]
fn an_instagram_page_is_read_from_every_way_to_write_it() {
    check(
        Instagram,
        "instagram.com/acme.corp_",
        "acme.corp_",
        &[
            "https://www.instagram.com/acme.corp_/",
            "https://instagram.com/acme.corp_?hl=en",
            "https://www.instagram.com/acme.corp_/reels/",
            "https://www.instagram.com/_u/acme.corp_",
            "http://instagr.am/acme.corp_",
            "acme.corp_",
            "@acme.corp_",
        ],
    );
}

#[test]
fn a_twitter_page_is_read_from_both_of_its_hosts() {
    check(
        Twitter,
        "twitter.com/Acme_1",
        "acme_1",
        &[
            "https://twitter.com/Acme_1",
            "https://x.com/Acme_1",
            "http://www.x.com/Acme_1/",
            "https://mobile.twitter.com/Acme_1",
            "https://m.twitter.com/Acme_1?lang=de",
            "https://twitter.com/#!/Acme_1",
            "https://twitter.com/@Acme_1",
            "https://x.com/Acme_1/status/123",
            "@Acme_1",
            "Acme_1",
            "Acme_1?lang=de",
        ],
    );
}

#[test]
fn a_youtube_page_is_shown_as_given_and_compared_by_its_handle() {
    check(
        Youtube,
        "youtube.com/@Acme",
        "acme",
        &[
            "https://www.youtube.com/@Acme",
            "https://m.youtube.com/@Acme/videos",
            "https://youtube.com/@Acme?si=x",
            "@Acme",
            "Acme",
            "https://www.youtube.com/%40Acme",
        ],
    );
    check(
        Youtube,
        "youtube.com/c/Acme",
        "acme",
        &["https://www.youtube.com/c/Acme/about", "c/Acme"],
    );
    check(
        Youtube,
        "youtube.com/user/Acme",
        "acme",
        &["https://www.youtube.com/user/Acme/featured"],
    );
    check(Youtube, "youtube.com/Acme", "acme", &["https://www.youtube.com/Acme"]);
}

#[test]
fn a_youtube_channel_id_keeps_its_case() {
    let id = "UCh0t0ntxZmVVWERFvxXEY-_";
    check(
        Youtube,
        "youtube.com/channel/UCh0t0ntxZmVVWERFvxXEY-_",
        id,
        &[
            id,
            "https://www.youtube.com/channel/UCh0t0ntxZmVVWERFvxXEY-_?sub_confirmation=1",
            "https://www.youtube.com/channel/UCh0t0ntxZmVVWERFvxXEY-_/videos",
            "https://studio.youtube.com/channel/UCh0t0ntxZmVVWERFvxXEY-_",
            "https://www.youtube.com/UCh0t0ntxZmVVWERFvxXEY-_",
            "channel/UCh0t0ntxZmVVWERFvxXEY-_",
        ],
    );
    let other = read(Youtube, "channel/UCH0t0ntxZmVVWERFvxXEY-_");
    assert_ne!(other.key(), read(Youtube, id).key());
    assert_ne!(read(Youtube, &id.to_lowercase()).key(), read(Youtube, id).key());
}

#[test]
fn another_networks_address_is_refused() {
    for (network, text) in [
        (LinkedIn, "https://facebook.com/acme"),
        (LinkedIn, "x.com/acme"),
        (Facebook, "https://www.linkedin.com/company/acme"),
        (Facebook, "instagram.com/acme"),
        (Instagram, "fb.com/acme"),
        (Twitter, "youtube.com/@acme"),
        (Youtube, "twitter.com/acme"),
        (Facebook, "https://www.linkedin.com/in/ada"),
        (LinkedIn, "https://acme.example/company/acme"),
        (LinkedIn, "acme.example/company/acme"),
        (LinkedIn, "www.acme.example"),
        (LinkedIn, "https://linkedin.com.acme.example/company/acme"),
        (LinkedIn, "https://notlinkedin.com/company/acme"),
        (LinkedIn, "https://linkedin.com@acme.example/company/acme"),
        (Twitter, "https://netflix.com/acme"),
        (Facebook, "https://"),
        (Facebook, "mailto://acme"),
    ] {
        assert_eq!(
            PageUrl::parse(network, text),
            Err(InvalidPage::OtherNetwork),
            "{network} {text:?}"
        );
    }
}

#[test]
fn an_address_that_names_no_page_is_refused() {
    for (network, texts) in [
        (
            LinkedIn,
            &[
                "linkedin.com",
                "https://www.linkedin.com/",
                "linkedin.com/company",
                "linkedin.com/company/",
                "linkedin.com/in/ada",
                "linkedin.com/pub/ada",
                "in/ada",
                "linkedin.com/feed",
                "linkedin.com/jobs/view/1",
                "linkedin.com/groups/1",
                "linkedin.com/acme",
                "linkedin.com/posts/acme_1",
                "lnkd.in/x",
                "linkedin.com/search/results/all/?keywords=acme",
                "https://business.linkedin.com/x",
                "a/b",
                "https://news.linkedin.com/company/acme",
                "linkedin.com?x=1",
                "#acme",
            ][..],
        ),
        (
            Facebook,
            &[
                "facebook.com",
                "fb.com/",
                "facebook.com/groups/acme",
                "facebook.com/watch/?v=1",
                "facebook.com/home",
                "facebook.com/home.php",
                "facebook.com/events/1",
                "facebook.com/sharer/sharer.php?u=x",
                "facebook.com/sharer.php?u=x",
                "facebook.com/share/abc",
                "facebook.com/profile.php",
                "facebook.com/profile.php?id=",
                "facebook.com/profile.php?id=acme",
                "facebook.com/pages/Acme",
                "facebook.com/pages",
                "facebook.com/people/Acme",
                "facebook.com/pg",
                "facebook.com/p/abc",
                "facebook.com/p/AbC-123",
                "facebook.com/reel/1",
                "facebook.com/stories/1",
                "facebook.com/hashtag/acme",
                "facebook.com/search/top?q=acme",
                "facebook.com/login",
                "facebook.com/photo.php?fbid=1",
                "facebook.com/permalink.php?story_fbid=1&id=2",
                "https://developers.facebook.com/docs",
                "groups/acme",
                "home",
            ],
        ),
        (
            Instagram,
            &[
                "instagram.com",
                "instagram.com/p/abc",
                "instagram.com/reel/abc",
                "instagram.com/stories/acme/1",
                "instagram.com/explore/tags/acme",
                "instagram.com/accounts/login",
                "instagram.com/tv/x",
                "p/abc",
            ],
        ),
        (
            Twitter,
            &[
                "twitter.com",
                "x.com/",
                "twitter.com/home",
                "twitter.com/i/lists/1",
                "twitter.com/search?q=acme",
                "twitter.com/hashtag/acme",
                "twitter.com/intent/tweet?text=x",
                "twitter.com/share?url=x",
                "x.com/explore",
                "https://help.twitter.com/en",
                "t.co/abc",
                "x.com/jobs",
                "home",
                "twitter.com/#!/search",
            ],
        ),
        (
            Youtube,
            &[
                "youtube.com",
                "youtube.com/watch?v=x",
                "youtu.be/x",
                "youtube.com/playlist?list=x",
                "youtube.com/shorts/x",
                "youtube.com/embed/x",
                "youtube.com/feed/subscriptions",
                "youtube.com/results?search_query=x",
                "youtube.com/channel",
                "youtube.com/c/",
                "youtube.com/user",
                "youtube.com/live/x",
                "youtube.com/hashtag/x",
            ],
        ),
    ] {
        for text in texts {
            assert_eq!(
                PageUrl::parse(network, text),
                Err(InvalidPage::NoPage),
                "{network} {text:?}"
            );
        }
    }
}

#[test]
fn what_no_handle_looks_like_is_refused() {
    for (network, texts) in [
        (
            LinkedIn,
            &[
                "Acme Corp",
                "linkedin.com/company/acme%20corp",
                "linkedin.com/company/%FF",
                "%00",
                "-",
                "...",
                "ada@acme.example",
                "<acme>",
                "@@acme",
                "linkedin.com/company/a%2Fb",
                "linkedin.com/company/a%3Fb",
            ][..],
        ),
        (Facebook, &["Acme Corp", "@", "facebook.com/-"]),
        (Instagram, &["acme-corp", "äcme", "instagram.com/a b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]),
        (Twitter, &["acme.corp", "acme-corp", "äcme", "aaaaaaaaaaaaaaaaaaaaa", "acme.com"]),
        (
            Youtube,
            &["Acme Corp", "youtube.com/channel/acme", "youtube.com/channel/UCshort", "@a b"],
        ),
    ] {
        for text in texts {
            assert_eq!(
                PageUrl::parse(network, text),
                Err(InvalidPage::BadHandle),
                "{network} {text:?}"
            );
        }
    }
    assert_eq!(PageUrl::parse(Facebook, " "), Err(InvalidPage::Empty));
}

#[test]
fn messages_never_repeat_the_input() {
    for text in ["lovelace corp", "https://lovelace.example/x", "linkedin.com/in/lovelace"] {
        let message = PageUrl::parse(LinkedIn, text).unwrap_err().to_string();
        assert!(!message.contains("lovelace"), "{message}");
    }
}
