//! Tests of public mail hosts.

use std::collections::HashSet;

use enrich_text::{Domain, is_public_mail_host};

fn is_public(host: &str) -> bool {
    is_public_mail_host(&Domain::parse(host).unwrap())
}

#[test]
fn mail_hosts_of_the_world_are_known() {
    for host in [
        "gmail.com",
        "googlemail.com",
        "outlook.com",
        "outlook.fr",
        "hotmail.com",
        "hotmail.co.uk",
        "live.com",
        "live.nl",
        "msn.com",
        "yahoo.com",
        "yahoo.co.jp",
        "yahoo.com.br",
        "ymail.com",
        "aol.com",
        "icloud.com",
        "me.com",
        "mac.com",
        "proton.me",
        "protonmail.com",
        "tutanota.com",
        "zoho.com",
        "fastmail.com",
        "gmx.de",
        "gmx.net",
        "web.de",
        "t-online.de",
        "freenet.de",
        "orange.fr",
        "free.fr",
        "laposte.net",
        "libero.it",
        "virgilio.it",
        "terra.es",
        "sapo.pt",
        "wp.pl",
        "onet.pl",
        "seznam.cz",
        "azet.sk",
        "freemail.hu",
        "abv.bg",
        "mail.ru",
        "bk.ru",
        "yandex.ru",
        "rambler.ru",
        "ukr.net",
        "qq.com",
        "163.com",
        "126.com",
        "sina.com",
        "naver.com",
        "daum.net",
        "hanmail.net",
        "nifty.com",
        "docomo.ne.jp",
        "rediffmail.com",
        "bigpond.com",
        "xtra.co.nz",
        "uol.com.br",
        "bol.com.br",
        "comcast.net",
        "btinternet.com",
        "bluewin.ch",
        "telenet.be",
        "ziggo.nl",
        "telia.com",
        "online.no",
        "walla.co.il",
        "mailinator.com",
    ] {
        assert!(is_public(host), "{host}");
    }
}

#[test]
fn hosts_below_a_public_mail_host_are_public_too() {
    assert!(is_public("vip.163.com"));
    assert!(is_public("mail.gmail.com"));
    assert!(is_public("nc.rr.com"));
}

#[test]
fn companies_own_domains_are_not_public() {
    for host in [
        "acme.example",
        "google.com",
        "microsoft.com",
        "yahooinc.com",
        "apple.com",
        "vk.company",
        "gmail.com.acme.example",
        "mygmail.com",
        "bt.com",
        "swisscom.com",
    ] {
        assert!(!is_public(host), "{host}");
    }
}

#[test]
fn every_line_of_the_list_is_a_domain_in_normal_form_and_stands_there_once() {
    let mut seen = HashSet::new();
    let list = include_str!("../../data/public_mail_hosts.txt");
    for host in list.lines().filter(|line| !line.starts_with('#')) {
        assert_eq!(Domain::parse(host).unwrap().as_str(), host);
        assert!(seen.insert(host), "{host} stands there twice");
    }
    assert!(seen.len() > 500);
}
