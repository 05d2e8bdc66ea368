//! The features by which a candidate is judged, and the values that they have for one candidate.

/// Defines the features with their names in the table of weights.
macro_rules! features {
    ($($(#[$doc:meta])* $feature:ident $name:literal,)*) => {
        /// A feature: one kind of evidence for or against a candidate. In the names of the
        /// features, `Asked` stands for the requested name, and `Held` for the candidate's name.
        /// The rarity of a word is the negative natural logarithm of the share of names that
        /// contain the word; its unit is the nat. A feature without a stated unit is 0 or 1, or a
        /// share between 0 and 1. "How well a label fits" is 1 if the label of a domain equals the
        /// name, and less if the label only contains or resembles the name.
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

            /// Whether only prominent companies have the feature. The feature is 0 for a company
            /// that is known only by names, a domain and a page.
            pub const fn is_of_prominence(self) -> bool {
                self as usize >= Self::ProminentName as usize
            }
        }
    };
}

features! {
    /// Always 1. The weight of this feature is the constant term of the logistic model.
    Bias "bias",
    /// The names contain words that contradict each other: two different numbers, or north and
    /// south.
    Contrast "contrast",
    /// The names contain words for different kinds of organisation or subject: a school and a
    /// hospital.
    ContrastKind "contrast_kind",
    /// The names are equal except for case, accents and punctuation.
    SameFolded "same_folded",
    /// The names are equal without legal forms and articles.
    SameStripped "same_stripped",
    /// The names are equal without spaces.
    SameSquashed "same_squashed",
    /// If the names are equal without spaces, the length of the requested name in tens of letters,
    /// at most two.
    SameSquashedLong "same_squashed_long",
    /// The names have the same words, in any order and language.
    SameSorted "same_sorted",
    /// The names have the same words in any order, but are not equal without spaces.
    SameSortedOnly "same_sorted_only",
    /// The names are equal without spaces, but their words differ.
    SameJoined "same_joined",
    /// The rarity of the matching words, as a share of the total rarity of the words of the
    /// requested name.
    AskedCovered "asked_covered",
    /// The rarity of the matching words, as a share of the total rarity of the words of the
    /// candidate's name.
    HeldCovered "held_covered",
    /// The amount by which the harmonic mean of `AskedCovered` and `HeldCovered` exceeds one half.
    CoveredOverHalf "covered_over_half",
    /// The rarity of the rarest word that only the requested name has, in tens of nats.
    AskedMissingMost "asked_missing_most",
    /// The total rarity of words that only the requested name has, in tens of nats, at most three.
    AskedMissing "asked_missing",
    /// The total rarity of words that only the candidate's name has, in tens of nats, at most
    /// three.
    HeldMissing "held_missing",
    /// The total rarity of the matching words, in tens of nats, at most three.
    Agreed "agreed",
    /// The total rarity of the matching words, in tens of nats, at most one.
    AgreedSome "agreed_some",
    /// The total rarity of the matching words that are not general, in tens of nats, at most three.
    AgreedSpecific "agreed_specific",
    /// The total rarity of the matching words that are not general, in tens of nats, at most 0.8.
    AgreedSpecificSome "agreed_specific_some",
    /// The names share no words, or only general ones.
    NoSpecific "no_specific",
    /// The rarity of the rarest non-general word that only the requested name has, in tens of nats.
    AskedMissingSpecific "asked_missing_specific",
    /// The rarity of the rarest non-general word that only the candidate's name has, in tens of
    /// nats.
    HeldMissingSpecific "held_missing_specific",
    /// The rarity of translations and other equivalents, as a share of the rarity of all matching
    /// words.
    Equivalent "equivalent",
    /// The rarity of misspelt words, as a share of the rarity of all matching words.
    Misspelt "misspelt",
    /// The first word of the requested name matches a word of the candidate's name.
    FirstAsked "first_asked",
    /// The first word of the candidate's name matches a word of the requested name.
    FirstHeld "first_held",
    /// The Jaro-Winkler similarity of the names without spaces.
    Jaro "jaro",
    /// The amount by which the Jaro-Winkler similarity of the names exceeds 0.9, in tenths.
    JaroHigh "jaro_high",
    /// The Sørensen-Dice similarity of the letter pairs of both names.
    Dice "dice",
    /// The candidate's name is one of the company's aliases.
    Alias "alias",
    /// The requested name consists of the initials of the candidate's name.
    IsInitials "is_initials",
    /// If the requested name consists of the initials of the candidate's name, the number of
    /// initials minus three, divided by three.
    IsInitialsLong "is_initials_long",
    /// The candidate's name consists of the initials of the requested name.
    HasInitials "has_initials",
    /// A word of the requested name is misspelt.
    Slip "slip",
    /// A word of the requested name is misspelt, and all other words agree.
    SlipAlone "slip_alone",
    /// If a word is misspelt and all other words agree, one eighth of the length of the shortest
    /// misspelt word, at most 1.5.
    SlipAloneLong "slip_alone_long",
    /// The spelling mistake swaps two neighbouring letters.
    SlipSwapped "slip_swapped",
    /// The spelling mistake doubles a letter, or makes a double letter single.
    SlipDoubled "slip_doubled",
    /// The spelling mistake leaves out a letter.
    SlipMissing "slip_missing",
    /// The spelling mistake adds a letter.
    SlipAdded "slip_added",
    /// The spelling mistake replaces a letter by that of a neighbouring key.
    SlipNear "slip_near",
    /// The spelling mistake changes the first letter of the word.
    SlipFirst "slip_first",
    /// How much rarer the letter sequence of the misspelt word is than that of the correct word, in
    /// tens of nats (see [`oddity`](enrich_text::oddity)). The value is limited to the range −1 to
    /// 1.
    SlipOdd "slip_odd",
    /// If a word is misspelt and all other words agree, the value of `SlipOdd`; else 0.
    SlipAloneOdd "slip_alone_odd",
    /// How common the misspelt word is as a word of other names, in tens of nats: how much less rare
    /// it is than a word that no company has. A common word is probably no misspelling.
    SlipKnown "slip_known",
    /// Both names have the same legal form.
    FormAgrees "form_agrees",
    /// The names have different legal forms.
    FormDiffers "form_differs",
    /// A word in parentheses after the requested name is also in the candidate's name.
    AsideAgrees "aside_agrees",
    /// The requested name is followed by a non-general word in parentheses.
    Aside "aside",
    /// The requested name is followed by a general word in parentheses, usually a place.
    AsidePlace "aside_place",
    /// A word in parentheses after the requested name is part of a domain of the company.
    AsideInDomain "aside_in_domain",
    /// If the first words of the requested name equal a domain label, their rarity as a share of
    /// the rarity of the whole name.
    LabelIsBeginning "label_is_beginning",
    /// If a domain label contains the requested name, the length of the name as a share of the
    /// label's length.
    LabelHoldsName "label_holds_name",
    /// If the requested name contains a domain label, the length of the label as a share of the
    /// name's length.
    NameHoldsLabel "name_holds_label",
    /// The similarity of a domain label and the requested name, from 0 to 1: 0 if 30 % or more of
    /// the letters differ, 1 if no letter does.
    LabelLikeName "label_like_name",
    /// A domain label equals the initials of the requested name.
    LabelIsInitials "label_is_initials",
    /// If a domain label consists of the beginnings of words of the requested name, the rarity of
    /// these words as a share of the name's rarity.
    LabelOfParts "label_of_parts",
    /// A domain label consists of the beginnings of all words of the requested name.
    LabelOfPartsFull "label_of_parts_full",
    /// If a word of the requested name equals a domain label, the rarity of this word, in tens of
    /// nats.
    WordIsLabel "word_is_label",
    /// If a domain label begins with a word of the requested name, the length of the word as a
    /// share of the label's length.
    WordBeginsLabel "word_begins_label",
    /// One of the company's domains is a host below a registrable domain.
    IsHost "is_host",
    /// A domain label equals the requested name, and the names share no words or only general ones.
    LabelIsNameGeneral "label_is_name_general",
    /// If a domain label equals the requested name, the length of the name in tens of letters, at
    /// most two.
    LabelIsNameLong "label_is_name_long",
    /// All words of both names agree.
    ShapeAll "shape_all",
    /// If all words of both names agree, how well a domain label fits the requested name, from 0 to
    /// 1.
    ShapeAllLabel "shape_all_label",
    /// Only the requested name has additional words, all of them general.
    ShapeMoreGeneral "shape_more_general",
    /// If only the requested name has additional words, all of them general: how well a domain
    /// label fits the requested name, from 0 to 1.
    ShapeMoreGeneralLabel "shape_more_general_label",
    /// Only the requested name has additional words, not all of them general.
    ShapeMore "shape_more",
    /// If only the requested name has additional words, not all of them general: how well a domain
    /// label fits the requested name, from 0 to 1.
    ShapeMoreLabel "shape_more_label",
    /// Only the candidate's name has additional words, all of them general.
    ShapeLessGeneral "shape_less_general",
    /// If only the candidate's name has additional words, all of them general: how well a domain
    /// label fits the requested name, from 0 to 1.
    ShapeLessGeneralLabel "shape_less_general_label",
    /// Only the candidate's name has additional words, not all of them general.
    ShapeLess "shape_less",
    /// If only the candidate's name has additional words, not all of them general: how well a
    /// domain label fits the requested name, from 0 to 1.
    ShapeLessLabel "shape_less_label",
    /// Each name has words that the other lacks, and all of these words are general.
    ShapeBothGeneral "shape_both_general",
    /// If each name has words that the other lacks, all of them general: how well a domain label
    /// fits the requested name, from 0 to 1.
    ShapeBothGeneralLabel "shape_both_general_label",
    /// Each name has words that the other lacks, and not all of these words are general.
    ShapeBoth "shape_both",
    /// If each name has words that the other lacks, not all of them general: how well a domain
    /// label fits the requested name, from 0 to 1.
    ShapeBothLabel "shape_both_label",
    /// The requested name looks like an acronym.
    Acronym "acronym",
    /// The requested name looks like an acronym and equals a domain label.
    AcronymLabel "acronym_label",
    /// The requested name looks like an acronym and equals the initials of the candidate's name.
    AcronymInitials "acronym_initials",
    /// The requested name equals the initials of the candidate's name and a domain label.
    InitialsAndLabel "initials_and_label",
    /// If a word is misspelt, the similarity of a domain label and the requested name, from 0 to 1.
    SlipAndLabel "slip_and_label",
    /// A label of a domain, but not the first label, is the code of the state or province in the
    /// requested name: `jackson.wi.us`.
    RegionHere "region_here",
    /// The first label of a domain ends with the code of the state or province in the requested
    /// name: `jacksonwi.gov`.
    RegionBehind "region_behind",
    /// The company is in the country that the requested name mentions.
    CountryAgrees "country_agrees",
    /// The requested name mentions a country, and the company is in another one.
    CountryDiffers "country_differs",
    /// The requested name mentions a country in parentheses, and the company is in another one.
    CountryAsideDiffers "country_aside_differs",
    /// The requested name is a domain that does not belong to the company.
    OtherDomain "other_domain",
    /// The requested name is one word.
    SingleWord "single_word",
    /// The total rarity of the words of the requested name, in tens of nats, at most four.
    RarityOfAll "rarity_of_all",
    /// One fifth of the number of words in the requested name, at most two.
    Words "words",
    /// One tenth of the number of letters in the requested name, at most three.
    Length "length",
    /// The company's prominence, if the names are equal without legal forms or spaces and this is the
    /// company's own name.
    ProminentName "prominent_name",
    /// The company's prominence, if the names are equal without legal forms or spaces and the
    /// candidate's name is an alias.
    ProminentAlias "prominent_alias",
    /// The company's prominence, if its own name and the label of its main domain both equal the
    /// requested name.
    ProminentOwnLabel "prominent_own_label",
    /// The company's prominence, if a domain label equals the requested name.
    ProminentLabel "prominent_label",
    /// The company's prominence, if the requested name looks like an acronym, and is an alias or the
    /// initials of the candidate's name.
    ProminentAcronym "prominent_acronym",
    /// The company's prominence, if a word is misspelt and all other words agree, or if the whole
    /// name without spaces is misspelt.
    ProminentSlip "prominent_slip",
    /// If a word or the whole name is misspelt, the company's prominence times the similarity of a
    /// domain label and the requested name.
    ProminentSlipLabel "prominent_slip_label",
    /// The company's prominence, if only the requested name has additional words, and all of them
    /// are an addition at its end, such as a place.
    ProminentAddition "prominent_addition",
    /// The company's prominence, if only the requested name has additional words, and not all of
    /// them are an addition at its end.
    ProminentMore "prominent_more",
    /// The company's prominence, if only the candidate's name has additional words.
    ProminentLonger "prominent_longer",
    /// The company's prominence, if only the candidate's name has additional words and a domain
    /// label equals the requested name.
    ProminentLongerLabel "prominent_longer_label",
    /// The company's prominence, if some words of the names agree, and each name has words that the
    /// other lacks. 0 if only the whole names without spaces are alike.
    ProminentBoth "prominent_both",
    /// A country is requested, and nothing says in which country the company is.
    CountryUnknown "country_unknown",
    /// A country is requested, and the company is in another one.
    CountryElsewhere "country_elsewhere",
}

/// The evidence for and against one candidate: the features that are not 0, with their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence(Vec<(Feature, f64)>);

impl Evidence {
    /// Returns the features that are not 0. Each is returned once.
    pub fn features(&self) -> &[(Feature, f64)] {
        &self.0
    }

    /// Returns the value of a feature; 0 if the evidence does not contain it.
    pub fn of(&self, feature: Feature) -> f64 {
        self.0.iter().find(|(known, _)| *known == feature).map_or(0.0, |(_, value)| *value)
    }

    /// Adds the feature with this value if `is` is true.
    pub(super) fn add_if(&mut self, is: bool, feature: Feature, value: f64) {
        self.add(feature, if is { value } else { 0.0 });
    }

    pub(super) fn add(&mut self, feature: Feature, value: f64) {
        if value != 0.0 {
            self.0.push((feature, value));
        }
    }

    pub(super) fn flag(&mut self, feature: Feature, is: bool) {
        self.add(feature, f64::from(u8::from(is)));
    }
}
