//! Features are numbers that describe how well a candidate fits a requested name. The values of
//! all features are the evidence for and against the candidate.

/// Defines the features. Each has a name by which the table of weights refers to it.
macro_rules! features {
    ($($(#[$doc:meta])* $feature:ident $name:literal,)*) => {
        /// A feature: one kind of evidence for or against a candidate.
        ///
        /// - In the names of the features, `Asked` stands for the requested name, and `Held` for
        ///   the candidate's name.
        /// - The rarity of a word is the negative natural logarithm of the share of names that
        ///   contain the word. Its unit is the nat.
        /// - A general word is a word of many organisations, such as `university`, in any
        ///   language.
        /// - A domain label is the first label of one of the company's domains, without hyphens:
        ///   `quill` of `quill.example`. It fits a name with the value 1 if it equals the name,
        ///   and with a lower value if it only contains or resembles the name.
        /// - A feature without a stated unit is 0 or 1, or a share between 0 and 1.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature {
            $($(#[$doc])* $feature,)*
        }

        impl Feature {
            /// All features.
            pub const ALL: &[Self] = &[$(Self::$feature,)*];

            /// Returns the feature's name in the table of weights.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$feature => $name,)*
                }
            }

            /// Whether the feature depends on the company's prominence (how well known it is). If
            /// the prominence is 0, each of these features is 0. For example, the prominence is 0
            /// if only names, one domain without a page rank, and one page on a social network are
            /// known.
            pub const fn is_of_prominence(self) -> bool {
                self as usize >= Self::ProminentName as usize
            }
        }
    };
}

features! {
    /// Always 1. So the weight of this feature is the constant term of the logistic model.
    Bias "bias",
    /// The requested name and the candidate's name contain words that contradict each other, such
    /// as two different numbers, or `north` and `south`.
    Contrast "contrast",
    /// The requested name and the candidate's name contain words for different kinds of
    /// organisation, such as a school and a hospital, or for different subjects, such as music and
    /// art.
    ContrastKind "contrast_kind",
    /// The requested name and the candidate's name are equal, apart from case, accents and
    /// punctuation.
    SameFolded "same_folded",
    /// The requested name and the candidate's name are equal, apart from legal forms and the
    /// article: `The Quill Ltd`, `Quill`.
    SameStripped "same_stripped",
    /// The requested name and the candidate's name are equal, apart from legal forms and spaces:
    /// `Quill Pens Ltd`, `Quillpens`.
    SameSquashed "same_squashed",
    /// The number of letters of the requested name, divided by 10, at most 2. It is set only if
    /// both names are equal, apart from legal forms and spaces; else 0.
    SameSquashedLong "same_squashed_long",
    /// The requested name and the candidate's name have the same words, in any order and language:
    /// `Quill University`, `Universität Quill`.
    SameSorted "same_sorted",
    /// The requested name and the candidate's name have the same words, but in another order or
    /// language: `Quill University`, `University Quill`.
    SameSortedOnly "same_sorted_only",
    /// The requested name and the candidate's name are equal without spaces, but are divided into
    /// different words: `Quill Pens`, `Quillpens`.
    SameJoined "same_joined",
    /// How much of the requested name matches: the total rarity of its matching words, as a share
    /// of the total rarity of all its words. So a rare word counts more than a common word.
    AskedCovered "asked_covered",
    /// How much of the candidate's name matches: the total rarity of its matching words, as a share
    /// of the total rarity of all its words. So a rare word counts more than a common word.
    HeldCovered "held_covered",
    /// The harmonic mean of `AskedCovered` and `HeldCovered` (how much of each name matches), minus
    /// 0.5. It is 0 if the mean is below 0.5.
    CoveredOverHalf "covered_over_half",
    /// The requested name has words that the candidate's name lacks. The value is the highest
    /// rarity of these words in nats, divided by 10.
    AskedMissingMost "asked_missing_most",
    /// The requested name has words that the candidate's name lacks. The value is the sum of their
    /// rarities in nats, divided by 10, at most 3.
    AskedMissing "asked_missing",
    /// The candidate's name has words that the requested name lacks. The value is the sum of their
    /// rarities in nats, divided by 10, at most 3.
    HeldMissing "held_missing",
    /// How rare the matching words are: the sum of their rarities in nats, divided by 10, at most
    /// 3.
    Agreed "agreed",
    /// The value of `Agreed` (the total rarity of the matching words), but at most 1. With this
    /// additional feature, the first 10 nats of rarity can have a higher weight than further nats.
    AgreedSome "agreed_some",
    /// How rare the matching words are: the sum of their rarities in nats, divided by 10, at most
    /// 3. General words, such as `university`, and places are left out.
    AgreedSpecific "agreed_specific",
    /// The value of `AgreedSpecific` (the total rarity of the matching words, without general words
    /// and places), but at most 0.8. With this additional feature, the first 8 nats of rarity can
    /// have a higher weight than further nats.
    AgreedSpecificSome "agreed_specific_some",
    /// No words match, or all matching words are general words, such as `university`, or places.
    NoSpecific "no_specific",
    /// The requested name has words that the candidate's name lacks. The value is the highest
    /// rarity of these words in nats, divided by 10. General words, such as `university`, and
    /// places are left out.
    AskedMissingSpecific "asked_missing_specific",
    /// The candidate's name has words that the requested name lacks. The value is the highest
    /// rarity of these words in nats, divided by 10. General words, such as `university`, and
    /// places are left out.
    HeldMissingSpecific "held_missing_specific",
    /// Some matching words are translations or other forms of each other, such as `university` and
    /// `Universität`. The value is the total rarity of these words, as a share of the total rarity
    /// of all matching words.
    Equivalent "equivalent",
    /// Some matching words differ by a spelling mistake. The value is the total rarity of these
    /// words, as a share of the total rarity of all matching words.
    Misspelt "misspelt",
    /// The first word of the requested name matches a word of the candidate's name. A match by an
    /// abbreviation or an initial is ignored.
    FirstAsked "first_asked",
    /// The first word of the candidate's name matches a word of the requested name. A match by an
    /// abbreviation or an initial is ignored.
    FirstHeld "first_held",
    /// The Jaro-Winkler similarity of the requested name and the candidate's name without spaces,
    /// from 0 to 1.
    Jaro "jaro",
    /// The Jaro-Winkler similarity of the requested name and the candidate's name without spaces,
    /// minus 0.9, times 10. It is 0 if the similarity is below 0.9.
    JaroHigh "jaro_high",
    /// The Sørensen-Dice similarity of the requested name and the candidate's name without spaces,
    /// from 0 to 1. It is the share of pairs of neighbouring letters, such as `qu` and `ui` of
    /// `quill`, that both names have.
    Dice "dice",
    /// The candidate's name that was compared is an alias of the company, not its own name.
    Alias "alias",
    /// The requested name consists of the initials of the candidate's name: `QPI` for `Quill Pen
    /// Ink`.
    IsInitials "is_initials",
    /// The number of letters of the requested name minus 3, divided by 3. It is set only if the
    /// name consists of the initials of the candidate's name; else 0.
    IsInitialsLong "is_initials_long",
    /// The candidate's name consists of the initials of the requested name: `QPI` for `Quill Pen
    /// Ink`.
    HasInitials "has_initials",
    /// A word of the requested name matches a word of the candidate's name apart from a spelling
    /// mistake.
    Slip "slip",
    /// A word of the requested name is misspelt, and all other words of both names match.
    SlipAlone "slip_alone",
    /// The number of letters of the shortest misspelt word, divided by 8, at most 1.5. It is set
    /// only if all other words of the two names match; else 0.
    SlipAloneLong "slip_alone_long",
    /// A word of the requested name is misspelt: two neighbouring letters are swapped.
    SlipSwapped "slip_swapped",
    /// A word of the requested name is misspelt: a letter is doubled, or a double letter is single.
    SlipDoubled "slip_doubled",
    /// A word of the requested name is misspelt: a letter is missing.
    SlipMissing "slip_missing",
    /// A word of the requested name is misspelt: it contains an additional letter.
    SlipAdded "slip_added",
    /// A word of the requested name is misspelt: instead of one letter, the letter of a
    /// neighbouring key was typed.
    SlipNear "slip_near",
    /// A word of the requested name is misspelt: its first letter is wrong.
    SlipFirst "slip_first",
    /// How much more unusual the letters of a misspelt word are than the letters of the correct
    /// word: the difference of their [oddities](enrich_text::oddity) in nats, divided by 10, from
    /// −1 to 1. A word has a high oddity if its sequence of letters is unusual. The value is 0 if
    /// no word is misspelt.
    SlipOdd "slip_odd",
    /// The value of `SlipOdd` (how unusual the letters of the misspelt word are), if all other
    /// words of the two names match; else 0.
    SlipAloneOdd "slip_alone_odd",
    /// How common the misspelt word of the requested name is in names: the highest possible rarity
    /// minus the rarity of this word, in nats, divided by 10. If many names contain the word, it is
    /// probably not a misspelling, but another word: `channel` is probably not a misspelt `chanel`.
    /// The value is 0 if no word is misspelt.
    SlipKnown "slip_known",
    /// The requested name and the candidate's name have the same legal form, such as `GmbH`.
    FormAgrees "form_agrees",
    /// The requested name and the candidate's name have different legal forms: `GmbH` and `AG`.
    FormDiffers "form_differs",
    /// The requested name ends with a word in parentheses, such as `Quill (Pens)`, and the
    /// candidate's name has this word too.
    AsideAgrees "aside_agrees",
    /// The requested name ends with a word in parentheses, such as `Quill (Pens)`. The word is
    /// neither a general word, such as `university`, nor a place.
    Aside "aside",
    /// The requested name ends with a word in parentheses, such as `Quill (London)`. The word is a
    /// general word, such as `university`, or a place.
    AsidePlace "aside_place",
    /// The requested name ends with a word in parentheses, such as `Quill (Pens)`, and a domain of
    /// the company contains this word: `quillpens.example`.
    AsideInDomain "aside_in_domain",
    /// A domain label consists of the first words of the requested name: `quillpens` for `Quill
    /// Pens Paper`. The value is the total rarity of these words, as a share of the total rarity
    /// of all words.
    LabelIsBeginning "label_is_beginning",
    /// A domain label contains the requested name: `quillpens` contains `Quill`. The value is the
    /// length of the name, as a share of the length of the label.
    LabelHoldsName "label_holds_name",
    /// The requested name contains a domain label: `Quill Pens` contains `quill`. The value is
    /// the length of the label, as a share of the length of the name.
    NameHoldsLabel "name_holds_label",
    /// The similarity of a domain label (`quill` of `quill.example`) and the requested name, from 0
    /// to 1. It is 1 if both are equal, and 0 if 30 % or more of the letters differ.
    LabelLikeName "label_like_name",
    /// A domain label equals the initials of the requested name: `qpi` for `Quill Pen Ink`.
    LabelIsInitials "label_is_initials",
    /// A domain label consists of the beginnings of words of the requested name: `unsoed` for
    /// `Universitas Jenderal Soedirman`. The value is the total rarity of these words, as a share
    /// of the total rarity of all words.
    LabelOfParts "label_of_parts",
    /// A domain label consists of the beginnings of all words of the requested name: `quipen` for
    /// `Quill Pens`.
    LabelOfPartsFull "label_of_parts_full",
    /// A word of the requested name equals a domain label (`quill` of `quill.example`). The value
    /// says how rare the word is: its rarity in nats, divided by 10.
    WordIsLabel "word_is_label",
    /// A domain label begins with a word of the requested name: `quillworks` begins with `Quill`.
    /// The value is the length of the word, as a share of the length of the label.
    WordBeginsLabel "word_begins_label",
    /// One of the company's domains is a host below a registrable domain, such as
    /// `shop.quill.example`.
    IsHost "is_host",
    /// A domain label (`quill` of `quill.example`) equals the requested name. But no words of the
    /// two names match, or only general words, such as `university`, and places.
    LabelIsNameGeneral "label_is_name_general",
    /// The number of letters of the requested name, divided by 10, at most 2. It is set only if a
    /// domain label (`quill` of `quill.example`) equals the name; else 0.
    LabelIsNameLong "label_is_name_long",
    /// All words of the requested name and of the candidate's name match.
    ShapeAll "shape_all",
    /// How well a domain label (`quill` of `quill.example`) fits the requested name, from 0 to 1.
    /// It is set only if all words of both names match; else 0.
    ShapeAllLabel "shape_all_label",
    /// All words of the candidate's name match. The requested name has additional words, and all of
    /// these are general words, such as `university`, or places: `Quill University` for `Quill`.
    ShapeMoreGeneral "shape_more_general",
    /// How well a domain label (`quill` of `quill.example`) fits the requested name, from 0 to 1.
    /// It is set only if `ShapeMoreGeneral` is 1, as for the requested name `Quill University` and
    /// the candidate's name `Quill`; else 0.
    ShapeMoreGeneralLabel "shape_more_general_label",
    /// All words of the candidate's name match. The requested name has additional words, and at
    /// least one of these is neither a general word, such as `university`, nor a place:
    /// `Quill Feather` for `Quill`.
    ShapeMore "shape_more",
    /// How well a domain label (`quill` of `quill.example`) fits the requested name, from 0 to 1.
    /// It is set only if `ShapeMore` is 1, as for the requested name `Quill Feather` and the
    /// candidate's name `Quill`; else 0.
    ShapeMoreLabel "shape_more_label",
    /// All words of the requested name match. The candidate's name has additional words, and all of
    /// these are general words, such as `university`, or places: `Quill` for `Quill University`.
    ShapeLessGeneral "shape_less_general",
    /// How well a domain label (`quill` of `quill.example`) fits the requested name, from 0 to 1.
    /// It is set only if `ShapeLessGeneral` is 1, as for the requested name `Quill` and the
    /// candidate's name `Quill University`; else 0.
    ShapeLessGeneralLabel "shape_less_general_label",
    /// All words of the requested name match. The candidate's name has additional words, and at
    /// least one of these is neither a general word, such as `university`, nor a place: `Quill` for
    /// `Quill Feather`.
    ShapeLess "shape_less",
    /// How well a domain label (`quill` of `quill.example`) fits the requested name, from 0 to 1.
    /// It is set only if `ShapeLess` is 1, as for the requested name `Quill` and the candidate's
    /// name `Quill Feather`; else 0.
    ShapeLessLabel "shape_less_label",
    /// Some words of the two names match, and each name has additional words. All additional words
    /// are general words, such as `university`, or places: `Quill University` for `Quill London`.
    ShapeBothGeneral "shape_both_general",
    /// How well a domain label (`quill` of `quill.example`) fits the requested name, from 0 to 1.
    /// It is set only if `ShapeBothGeneral` is 1, as for the requested name `Quill University` and
    /// the candidate's name `Quill London`; else 0.
    ShapeBothGeneralLabel "shape_both_general_label",
    /// Some words of the two names match, and each name has additional words. At least one
    /// additional word is neither a general word, such as `university`, nor a place:
    /// `Quill Feather` for `Quill London`.
    ShapeBoth "shape_both",
    /// How well a domain label (`quill` of `quill.example`) fits the requested name, from 0 to 1.
    /// It is set only if `ShapeBoth` is 1, as for the requested name `Quill Feather` and the
    /// candidate's name `Quill London`; else 0.
    ShapeBothLabel "shape_both_label",
    /// The requested name and the candidate's name differ only by words for a municipality, such as
    /// `city`: `City of Quill`, `Quill`.
    OnlyMunicipality "only_municipality",
    /// How well a domain label (`quill` of `quill.example`) fits the requested name, from 0 to 1.
    /// It is set only if the two names differ only by words for a municipality, such as `city`;
    /// else 0.
    OnlyMunicipalityLabel "only_municipality_label",
    /// The requested name looks like an acronym: it is one short word in capitals.
    Acronym "acronym",
    /// The requested name looks like an acronym and equals a domain label: `QPI`, `qpi.example`.
    AcronymLabel "acronym_label",
    /// The requested name looks like an acronym and equals the initials of the candidate's name:
    /// `QPI`, `Quill Pen Ink`.
    AcronymInitials "acronym_initials",
    /// The requested name equals the initials of the candidate's name, and also a domain label:
    /// `QPI`, `Quill Pen Ink`, `qpi.example`.
    InitialsAndLabel "initials_and_label",
    /// The similarity of a domain label (`quill` of `quill.example`) and the requested name, from 0
    /// to 1. It is set only if a word of the requested name is misspelt; else 0.
    SlipAndLabel "slip_and_label",
    /// A part of a domain is the code of the state or province in the requested name:
    /// `Jackson, WI`, `jackson.wi.us`. Dots and hyphens separate the parts. The first part and the
    /// top-level domain are ignored.
    RegionHere "region_here",
    /// The first part of a domain ends with the code of the state or province in the requested
    /// name: `Jackson, WI`, `jacksonwi.gov`. Dots and hyphens separate the parts.
    RegionBehind "region_behind",
    /// The company is in a country that the requested name contains, as in `Quill Norway`.
    CountryAgrees "country_agrees",
    /// The requested name contains a country, as in `Quill Norway`. The company has a known head
    /// office, but neither a head office nor a domain for this country.
    CountryDiffers "country_differs",
    /// `CountryDiffers` is 1 (the company is not in a country that the requested name contains),
    /// and the requested name has a country in parentheses: `Quill (Norway)`.
    CountryAsideDiffers "country_aside_differs",
    /// The letters of the requested name are used in few countries, such as the Georgian letters of
    /// `ჭილყვი`. The company is in one of these countries.
    LettersAgree "letters_agree",
    /// The letters of the requested name are used in few countries, such as the Georgian letters of
    /// `ჭილყვი`. The company is in another country, where they are not used.
    LettersDiffer "letters_differ",
    /// The requested name is a domain that does not belong to the company.
    OtherDomain "other_domain",
    /// The requested name is one word.
    SingleWord "single_word",
    /// How rare the words of the requested name are: the sum of their rarities in nats, divided by
    /// 10, at most 4.
    RarityOfAll "rarity_of_all",
    /// The number of words of the requested name, divided by 5, at most 2.
    Words "words",
    /// The number of letters of the requested name, divided by 10, at most 3.
    Length "length",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if its own name
    /// equals the requested name, apart from legal forms and spaces; else 0.
    ProminentName "prominent_name",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if one of its
    /// aliases equals the requested name, apart from legal forms and spaces; else 0.
    ProminentAlias "prominent_alias",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if its own name
    /// and the label of its main domain (`quill` of `quill.example`) both equal the requested name;
    /// else 0.
    ProminentOwnLabel "prominent_own_label",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if a domain
    /// label (`quill` of `quill.example`) equals the requested name; else 0.
    ProminentLabel "prominent_label",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if the requested
    /// name looks like an acronym, and equals an alias of the company or the initials of the
    /// candidate's name; else 0.
    ProminentAcronym "prominent_acronym",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if the requested
    /// name is probably a misspelling of the candidate's name; else 0. This is so if the two names
    /// are not equal, but all their words match, or the whole names without spaces differ only by a
    /// spelling mistake.
    ProminentSlip "prominent_slip",
    /// The value of [`ProminentSlip`](Self::ProminentSlip), times the similarity of a domain label
    /// (`quill` of `quill.example`) and the requested name.
    ProminentSlipLabel "prominent_slip_label",
    /// The value of [`ProminentSlip`](Self::ProminentSlip), times a number from 0 to 1: 0 if the
    /// misspelt word is in hardly any name, 1 if it is in many names. A word of many names, such as
    /// `channel`, is probably no misspelling of a famous name.
    ProminentSlipKnown "prominent_slip_known",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if the requested
    /// name is the candidate's name and an addition, such as a place, at its end or in parentheses:
    /// `Quill London` for `Quill`.
    ProminentAddition "prominent_addition",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if the requested
    /// name has additional words, as in `Quill Insurance` for `Quill`. It is 0 if these words are
    /// only a place or the like, as in `Quill London`: then
    /// [`ProminentAddition`](Self::ProminentAddition) is set instead.
    ProminentMore "prominent_more",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if the
    /// candidate's name has additional words, as in `Quill Insurance` for the requested name
    /// `Quill`.
    ProminentLonger "prominent_longer",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if a domain
    /// label (`quill` of `quill.example`) equals the requested name, and only the candidate's name
    /// has additional words.
    ProminentLongerLabel "prominent_longer_label",
    /// How well known the company is (its prominence, from 0 to 1). It is set only if some words of
    /// the names match, and each name has additional words. It is 0 if the whole names without
    /// spaces differ only by a spelling mistake.
    ProminentBoth "prominent_both",
    /// The company is well known (its prominence is above 0), but has no domain for the requested
    /// country. Neither a head office nor the main domain shows in which country the company is.
    CountryUnknown "country_unknown",
    /// The company is well known (its prominence is above 0), but has no domain for the requested
    /// country. A head office or the main domain shows in which country the company is.
    CountryElsewhere "country_elsewhere",
}
