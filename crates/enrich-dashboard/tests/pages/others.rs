//! Checks that one account can neither see nor change anything of another account. The tests try
//! every page of the account page's routing table, which [`pages`] returns.

use enrich_dashboard::{Method, PageRoute, pages};

use crate::bulk::upload;
use crate::world::{Browser, Owner, World, body};

fn path(page: PageRoute, key: &str, token: &str, job: &str) -> String {
    let path = page.path.replace("{id}", key).replace("{token}", token).replace("{job}", job);
    path.replace("{hash}", "0000000000000000").replace("{name}", "none.css")
}

/// Valid form fields. Each page reads the fields that its form has, and ignores the others.
const FIELDS: [(&str, &str); 14] = [
    ("email", "ada@quill.example"),
    ("password", "a new password of mine"),
    ("again", "a new password of mine"),
    ("present", crate::world::PASSWORD),
    ("label", "taken over"),
    ("requests", "7"),
    ("overlap", "0"),
    ("sure", "yes"),
    ("endpoint", "/v1/cuf"),
    ("field.companyName", "Quill"),
    ("attempt", "1"),
    ("done", "1"),
    ("map.companyName", "Company"),
    ("ceiling", "10"),
];

fn list(world: &World, owner: &Owner) -> String {
    let path = upload(world, owner, "adas-list.csv", "Company\nQuill\n");
    path.rsplit('/').next().unwrap().to_owned()
}

#[test]
fn without_a_session_only_what_is_open_shows() {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    let job = list(&world, &owner);
    let before = world.ports.state_text();
    let mut stranger = Browser::default();
    for page in pages().filter(|page| !page.is_open) {
        let path = path(page, &owner.key.to_string(), "none", &job);
        let seen = match page.method {
            Method::Get => stranger.get(&world, &path),
            Method::Post => stranger.post(&world, &path, &FIELDS),
        };
        assert_eq!(seen.status, 303, "{path}");
        assert!(seen.header("location").unwrap().starts_with("/account/sign-in"), "{path}");
        assert!(seen.body.is_empty());
    }
    assert_eq!(world.ports.state_text(), before);
}

#[test]
fn nothing_of_one_account_shows_or_changes_with_the_session_of_another() {
    let world = World::new();
    let mut ada = world.owner("Quill Ltd", "ada@quill.example");
    let eve = world.owner("Evil & Co", "eve@evil.example");
    // Ada's account gets an API key, a charged look-up and an uploaded list. So there is data of
    // Ada's account for every page, and no page may show it to Eve.
    ada.browser.post(&world, "/account/keys", &[("label", "adas-label")]);
    let key = ada.key.to_string();
    let call = [("endpoint", "/v1/cuf"), ("key", &key), ("field.companyName", "Quill")];
    let seen = ada.browser.post(&world, "/account/playground", &call);
    assert!(seen.body.contains("1 credit was charged"), "{}", seen.body);
    let request_id = seen.between("request id <code class=\"id\">", "</code>").to_owned();
    let job = list(&world, &ada);
    let own = |world: &World| {
        let told = world.ports.state_text();
        (told.matches("Evil").count(), world.ports.entries.lock().len())
    };
    let before = own(&world);
    let secrets: Vec<String> = {
        let keys = world.ports.keys.lock();
        let of_ada = keys.iter().filter(|(info, _)| info.account == ada.account);
        of_ada.map(|(_, key)| key.expose().to_owned()).collect()
    };
    let ada_before: Vec<_> = of(&world, ada.account);

    for page in pages() {
        // These pages are left out, because Eve, the owner of the other account, may sign out and
        // sign in herself.
        if page.path == "/account/sign-out" || page.path.contains("sign-in") {
            continue;
        }
        let mut browser = eve.browser.clone();
        let mut fields = FIELDS.to_vec();
        fields.push(("key", &key));
        let path = path(page, &key, "0", &job);
        let target = format!("{path}?key={key}&id={request_id}&account={}", ada.account);
        let seen = match page.method {
            Method::Get => browser.get(&world, &target),
            Method::Post => browser.post(&world, &path, &fields),
        };
        let account = ada.account.to_string();
        let of_ada = ["Quill Ltd", "ada@quill", "adas-label", "adas-list", account.as_str()];
        for text in of_ada.into_iter().chain(secrets.iter().map(String::as_str)) {
            assert!(!seen.body.contains(text), "{text} shows at {path}: {}", seen.body);
        }
        if page.path.contains("{id}") || page.path.contains("{job}") {
            assert_eq!(seen.status, 404, "{path}");
        }
    }
    assert_eq!(of(&world, ada.account), ada_before);
    // Eve may have changed her own password and keys, but the ledger has no new entry.
    assert_eq!(own(&world).1, before.1);
    assert_eq!(ada.browser.get(&world, "/account/").status, 200);
}

/// Returns the keys, the ledger entries and the password hash of an account, as texts to compare.
fn of(world: &World, account: enrich_core::AccountId) -> Vec<String> {
    let ports = &world.ports;
    let keys = ports.keys.lock();
    let keys = keys.iter().filter(|(info, _)| info.account == account);
    let entries = ports.entries.lock();
    let entries = entries.iter().filter(|entry| entry.account == account);
    let sign_ins = ports.sign_ins.lock();
    let sign_ins = sign_ins.iter().filter(|sign_in| sign_in.account == account);
    keys.map(|(info, _)| format!("{info:?}"))
        .chain(entries.map(|entry| format!("{entry:?}")))
        .chain(sign_ins.map(|own| own.password.as_ref().unwrap().expose().to_owned()))
        .collect()
}

#[test]
fn forged_posts_are_refused_by_every_page_that_changes_something() {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    let (_, _, token) = world.invited("Another", "ben@quill.example");
    let job = list(&world, &owner);
    let before = world.ports.state_text();
    let changing: Vec<PageRoute> = pages().filter(|page| page.method == Method::Post).collect();
    assert!(changing.len() > 10);
    let forged = [
        (Some("cross-site"), Some("https://evil.example")),
        (Some("cross-site"), Some("null")),
        (Some("same-site"), Some("https://other.enrich.example")),
        (Some("none"), None),
        (None, Some("https://evil.example")),
        (None, Some("null")),
        (None, None),
    ];
    for page in changing {
        let path = path(page, &owner.key.to_string(), token.expose(), &job);
        for (site, origin) in forged {
            let mut request = owner.browser.request(Method::Post, &path);
            request.fetch_site = site.map(str::to_owned);
            request.origin = origin.map(str::to_owned);
            request.body = body(&FIELDS);
            let seen = world.send(request);
            assert_eq!(seen.status, 403, "{path} {site:?} {origin:?}");
            assert_eq!(seen.header("set-cookie"), None);
        }
    }
    assert_eq!(world.ports.state_text(), before);
    let seen = owner.browser.get(&world, "/account/bulk");
    assert_eq!(seen.body.matches("/account/bulk/").count(), 1);
    assert!(seen.body.contains("Not started"));
}

#[test]
fn every_answer_is_protected_and_nothing_in_it_is_inline() {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    let (_, _, token) = world.invited("Another", "ben@quill.example");
    let job = list(&world, &owner);
    for browser in [owner.browser.clone(), Browser::default()] {
        for page in pages() {
            let path = path(page, &owner.key.to_string(), token.expose(), &job);
            let seen = world.send(browser.request(page.method, &path));
            let header = |name| seen.header(name).unwrap_or_else(|| panic!("{name} at {path}"));
            let policy = header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"));
            assert!(!policy.contains("unsafe"));
            assert_eq!(header("cache-control"), "no-store", "{path}");
            assert_eq!(header("x-content-type-options"), "nosniff");
            assert_eq!(header("referrer-policy"), "no-referrer");
            assert_eq!(header("cross-origin-opener-policy"), "same-origin");
            for inline in
                [" style=", " onclick=", " onload=", "<style", "javascript:", "http://", "https://"]
            {
                let shown = seen.body.replace("begins with <code>https://</code>", "");
                assert!(!shown.contains(inline), "{inline} in {path}");
            }
            for script in seen.body.split("<script").skip(1) {
                assert!(script.starts_with(" src=\"/account/assets/"), "{path}");
            }
        }
    }
}
