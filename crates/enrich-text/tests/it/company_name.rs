//! Tests of company names: folding, legal forms, look-up keys.

use enrich_text::{CompanyName, InvalidCompanyName, fold};

fn read(text: &str) -> CompanyName {
    CompanyName::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[test]
fn folding_evens_out_how_words_are_written() {
    for (text, folded) in [
        ("Acme", "acme"),
        ("  ACME   Corp.  ", "acme corp"),
        ("L'Oréal", "loreal"),
        ("L’Oréal", "loreal"),
        ("L´Oréal", "loreal"),
        ("Nestlé S.A.", "nestle sa"),
        ("S. A.", "sa"),
        ("AT&T", "at and t"),
        ("Johnson & Johnson", "johnson and johnson"),
        ("A+B", "a and b"),
        ("Smith + Wesson", "smith and wesson"),
        ("Canal+", "canal plus"),
        ("Canal+ Group", "canal plus group"),
        ("J.P. Morgan", "jp morgan"),
        ("J P Morgan", "jp morgan"),
        ("Yahoo!", "yahoo"),
        ("Booking.com", "booking com"),
        ("Coca-Cola", "coca cola"),
        ("Müller Straße", "muller strasse"),
        ("Ærø Øl", "aero ol"),
        ("İstanbul Işık", "istanbul isik"),
        ("Łódź", "lodz"),
        ("Acme™ Widgets®", "acme widgets"),
        ("Ａｃｍｅ　Ｃｏｒｐ", "acme corp"),
        ("ﬁrst", "first"),
        ("Газпром", "gazprom"),
        ("Ελλάδα", "ellada"),
        ("ΟΔΟΣ", "odos"),
        ("トヨタ自動車", "トヨタ自動車"),
        ("ﾄﾖﾀ", "トヨタ"),
        ("コカ・コーラ", "コカコーラ"),
        ("深圳", "深圳"),
        ("삼성전자", "삼성전자"),
        ("บริษัท", "บริษัท"),
        ("हिन्दी", "हिन्दी"),
        ("٣٤", "34"),
        // The letter alef, a shadda (U+FE7D), and a madda (U+0653). Folding removes the shadda.
        // Then alef and madda are composed to one letter.
        ("ا\u{fe7d}\u{653}", "آ"),
        ("3M", "3m"),
        ("e\u{301}cole", "ecole"),
        ("!!!", "!!!"),
        ("🍕", "🍕"),
        ("™", "™"),
        ("", ""),
        (" \u{200b}", ""),
    ] {
        assert_eq!(fold(text), folded, "{text:?}");
        assert_eq!(fold(folded), folded, "{folded:?}");
    }
}

#[test]
fn legal_forms_of_the_world_come_off() {
    for (text, stripped) in [
        ("Acme, Inc.", "acme"),
        ("Acme Incorporated", "acme"),
        ("Acme Corp", "acme"),
        ("Acme Corporation", "acme"),
        ("Acme LLC", "acme"),
        ("Acme L.L.C.", "acme"),
        ("Acme L. L. C.", "acme"),
        ("Acme Ltd", "acme"),
        ("Acme Limited", "acme"),
        ("Acme Co., Ltd.", "acme"),
        ("Acme Co.,Ltd.", "acme"),
        ("Acme Company Limited", "acme"),
        ("Acme & Co.", "acme"),
        ("Acme and Company", "acme"),
        ("Acme PLC", "acme"),
        ("Acme p.l.c.", "acme"),
        ("Acme LLP", "acme"),
        ("Acme GmbH", "acme"),
        ("ACME GMBH", "acme"),
        ("Acme G.m.b.H.", "acme"),
        ("Acme Ges.m.b.H.", "acme"),
        ("Acme mbH", "acme"),
        ("Acme Gesellschaft mit beschränkter Haftung", "acme"),
        ("Acme GmbH & Co. KG", "acme"),
        ("Acme GmbH und Co. KGaA", "acme"),
        ("Acme AG & Co. KG", "acme"),
        ("Acme SE & Co. KGaA", "acme"),
        ("Acme AG", "acme"),
        ("Acme Aktiengesellschaft", "acme"),
        ("Acme SE", "acme"),
        ("Acme e.V.", "acme"),
        ("Acme e. V.", "acme"),
        ("Acme eG", "acme"),
        ("Acme e.K.", "acme"),
        ("Acme OHG", "acme"),
        ("Acme UG (haftungsbeschränkt)", "acme"),
        ("Acme UG (haftungsbeschränkt) & Co. KG", "acme"),
        ("Acme gGmbH", "acme"),
        ("Acme S.A.", "acme"),
        ("Société Anonyme Acme", "acme"),
        ("Acme SAS", "acme"),
        ("Acme SARL", "acme"),
        ("SARL Acme", "acme"),
        ("Acme S.à r.l.", "acme"),
        ("Acme & Cie", "acme"),
        ("Acme S.p.A.", "acme"),
        ("Acme SPA", "acme"),
        ("Acme S.r.l.", "acme"),
        ("Acme S.n.c.", "acme"),
        ("Acme Soc. Coop. a r.l.", "acme"),
        ("Acme S.L.", "acme"),
        ("Acme S.L.U.", "acme"),
        ("Acme, S.A.U.", "acme"),
        ("Acme S.A. de C.V.", "acme"),
        ("Acme SAB de CV", "acme"),
        ("Acme S. de R.L. de C.V.", "acme"),
        ("Acme Ltda.", "acme"),
        ("Acme Ltda - ME", "acme"),
        ("Acme S/A", "acme"),
        ("Acme EIRELI", "acme"),
        ("Acme, Lda", "acme"),
        ("Acme SGPS, S.A.", "acme"),
        ("Acme B.V.", "acme"),
        ("Acme N.V.", "acme"),
        ("Acme V.O.F.", "acme"),
        ("Acme BVBA", "acme"),
        ("Acme AB", "acme"),
        ("Acme AB (publ)", "acme"),
        ("Acme AS", "acme"),
        ("Acme ASA", "acme"),
        ("Acme A/S", "acme"),
        ("Acme ApS", "acme"),
        ("Acme Oy", "acme"),
        ("Acme Oyj", "acme"),
        ("Oy Acme Ab", "acme"),
        ("Acme ehf.", "acme"),
        ("Acme OÜ", "acme"),
        ("UAB Acme", "acme"),
        ("UAB „Acme“", "acme"),
        ("SIA Acme", "acme"),
        ("Acme Sp. z o.o.", "acme"),
        ("Acme sp. z o. o.", "acme"),
        ("Acme SP. Z O.O.", "acme"),
        ("Acme Sp z oo", "acme"),
        ("Acme Sp. z o.o. sp. k.", "acme"),
        ("Acme Spółka Akcyjna", "acme"),
        ("Acme s.r.o.", "acme"),
        ("Acme, spol. s r.o.", "acme"),
        ("Acme a.s.", "acme"),
        ("Acme Kft.", "acme"),
        ("Acme Zrt.", "acme"),
        ("Acme d.o.o.", "acme"),
        ("Acme d.d.", "acme"),
        ("Acme A.Ş.", "acme"),
        ("Acme Ltd. Şti.", "acme"),
        ("ООО Акме", "akme"),
        ("ООО «Акме»", "akme"),
        ("ПАО Акме", "akme"),
        ("АО «Акме»", "akme"),
        ("ТОО «Сосновый Маяк»", "sosnovyy mayak"),
        ("Too Good To Go", "too good to go"),
        ("Pão de Açúcar", "pao de acucar"),
        ("А. О. Смит", "ao smit"),
        ("ТОВ Акме", "akme"),
        ("Общество с ограниченной ответственностью \"Акме\"", "akme"),
        ("Акме ЕООД", "akme"),
        ("Acme Pty Ltd", "acme"),
        ("Acme (Pty) Ltd", "acme"),
        ("Acme Pvt. Ltd.", "acme"),
        ("Acme (P) Ltd.", "acme"),
        ("Acme Private Limited", "acme"),
        ("Acme Sdn. Bhd.", "acme"),
        ("Acme Berhad", "acme"),
        ("Acme Pte. Ltd.", "acme"),
        ("PT Acme Tbk", "acme"),
        ("PT. Acme (Persero) Tbk.", "acme"),
        ("Acme FZ-LLC", "acme"),
        ("Acme W.L.L.", "acme"),
        ("Acme PJSC", "acme"),
        ("Acme K.K.", "acme"),
        ("アクメ株式会社", "アクメ"),
        ("株式会社アクメ", "アクメ"),
        ("株式会社 アクメ", "アクメ"),
        ("（株）アクメ", "アクメ"),
        ("㈱アクメ", "アクメ"),
        ("アクメ（有）", "アクメ"),
        ("有限会社アクメ", "アクメ"),
        ("合同会社アクメ", "アクメ"),
        ("艾克米有限公司", "艾克米"),
        ("艾克米股份有限公司", "艾克米"),
        ("艾克米有限责任公司", "艾克米"),
        ("艾克米集团有限公司", "艾克米集团"),
        ("주식회사 아크메", "아크메"),
        ("(주)아크메", "아크메"),
        ("아크메주식회사", "아크메"),
        ("บริษัท แอคมี จำกัด (มหาชน)", "แอคมี"),
        ("บริษัทแอคมีจำกัด", "แอคมี"),
        ("Công ty TNHH Acme", "acme"),
        ("אקמה בע\"מ", "אקמה"),
        ("Acme, v.v.i.", "acme"),
        ("Acme Kabushiki-gaisha", "acme"),
        ("Koeki Zaidan Hojin Acme", "acme"),
        ("Acme Sociedad Anónima de Capital Variable", "acme"),
        ("Obshchestvo s ogranichennoi otvetstvennostyu Acme", "acme"),
        ("ФГБУН Акме", "akme"),
        ("Acme (Edms) Bpk", "acme"),
        ("Công ty Cổ phần Acme", "acme"),
        ("財團法人艾克米", "艾克米"),
        ("国立大学法人アクメ", "アクメ"),
        ("Acme Anonim Şirketi", "acme"),
        ("Acme Μονοπρόσωπη Ανώνυμη Εταιρεία", "acme"),
        ("شركة أكمي", "أكمي"),
    ] {
        assert_eq!(read(text).stripped(), stripped, "{text:?}");
    }
}

#[test]
fn forms_that_follow_each_other_all_come_off() {
    for text in [
        "Acme Inc Ltd",
        "Acme GmbH GmbH",
        "Acme Ltd. Ltd. Ltd.",
        "UAB Acme Ltd",
        "Acme Corp. Limited",
    ] {
        assert_eq!(read(text).stripped(), "acme", "{text:?}");
    }
}

#[test]
fn a_name_is_never_stripped_down_to_nothing() {
    for (text, stripped) in [
        ("COOP", "coop"),
        ("AMBA", "amba"),
        ("AG", "ag"),
        ("SE", "se"),
        ("S.A.", "sa"),
        ("SA SA", "sa"),
        ("The Limited", "the limited"),
        ("The Company", "the company"),
        ("株式会社", "株式会社"),
        ("有限公司", "有限公司"),
        ("Co", "co"),
    ] {
        assert_eq!(read(text).stripped(), stripped, "{text:?}");
    }
}

#[test]
fn words_that_only_look_like_forms_stay() {
    for (text, stripped) in [
        ("SAS Institute", "sas institute"),
        ("AS Roma", "as roma"),
        ("AB Foods", "ab foods"),
        ("A. O. Smith", "ao smith"),
        ("Too Faced", "too faced"),
        ("Company of Heroes", "company of heroes"),
        ("Incorporated Village", "incorporated village"),
        ("SE Ranking", "se ranking"),
        ("SA Water", "sa water"),
        ("Pat McGrath", "pat mcgrath"),
        ("Limited Brands", "limited brands"),
        ("Zoo Berlin", "zoo berlin"),
        ("Berlin Zoo", "berlin zoo"),
        ("MB Bank", "mb bank"),
        ("Ducks Unlimited", "ducks unlimited"),
        ("Texas", "texas"),
        ("Costco", "costco"),
        ("Ginkgo", "ginkgo"),
        ("有田焼", "有田焼"),
        ("株本", "株本"),
    ] {
        assert_eq!(read(text).stripped(), stripped, "{text:?}");
    }
}

#[test]
fn the_three_keys_of_a_name() {
    let name = read("  The  L'Oréal   Group S.A. ");
    assert_eq!(name.display(), "The L'Oréal Group S.A.");
    assert_eq!(name.to_string(), name.display());
    assert_eq!(name.folded(), "the loreal group sa");
    assert_eq!(name.stripped(), "the loreal group");
    assert_eq!(name.squashed(), "theloreal group".replace(' ', ""));
}

#[test]
fn spaced_and_unspaced_names_meet_in_the_last_key() {
    assert_eq!(read("Tata Motors Ltd").squashed(), read("TataMotors").squashed());
    assert_eq!(read("Face Book, Inc.").squashed(), read("facebook").squashed());
    assert_ne!(read("Tata Motors").squashed(), read("Tata Steel").squashed());
}

#[test]
fn what_names_nothing_is_refused() {
    assert_eq!(CompanyName::parse(" \n"), Err(InvalidCompanyName::Empty));
    assert_eq!(CompanyName::parse("\u{200b}\u{feff}"), Err(InvalidCompanyName::NothingVisible));
    assert_eq!(CompanyName::parse("\u{301}"), Err(InvalidCompanyName::NothingVisible));
    assert_eq!(CompanyName::parse("a\0"), Err(InvalidCompanyName::ControlCharacter));
    assert_eq!(CompanyName::parse(&"a".repeat(513)), Err(InvalidCompanyName::TooLong));
    assert!(CompanyName::parse(&"a".repeat(512)).is_ok());
    assert!(CompanyName::parse("!!!").is_ok());
}

#[test]
fn every_line_of_the_table_has_spellings_and_a_place() {
    let list = include_str!("../../data/legal_forms.txt");
    let mut spellings = 0;
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(';').map(str::trim).collect();
        assert_eq!(columns.len(), 3, "{line}");
        assert!(["end", "start", "both", "glued"].contains(&columns[1]), "{line}");
        for spelling in columns[0].split('|') {
            let form = fold(spelling);
            assert!(!form.is_empty(), "{line}");
            // The second column of the table says where this legal form is removed: at the end of a
            // name (`end`), at its start (`start`), or at both (`both` and `glued`). A `glued` form
            // is also removed if no space is between it and the name.
            if columns[1] != "start" {
                assert_eq!(read(&format!("Qwxyz {spelling}")).stripped(), "qwxyz", "{spelling}");
            }
            if columns[1] != "end" {
                assert_eq!(read(&format!("{spelling} Qwxyz")).stripped(), "qwxyz", "{spelling}");
            }
            if columns[1] == "glued" {
                assert_eq!(read(&format!("Qwxyz{spelling}")).stripped(), "qwxyz", "{spelling}");
                assert_eq!(read(&format!("{spelling}Qwxyz")).stripped(), "qwxyz", "{spelling}");
            }
            spellings += 1;
        }
    }
    assert!(spellings > 600, "{spellings}");
}
