//! The evidence for and against a candidate: named features with their values.

/// Defines the features and their names, so that weights can be read by name.
macro_rules! features {
    ($($(#[$doc:meta])* $feature:ident $name:literal,)*) => {
        /// A kind of evidence for or against a candidate. "Asked" is the requested name, "held" the
        /// candidate's name. Rarities are in tens of nats. A feature without a unit is 0 or 1, or a
        /// share. "How well a label fits" is 1 if the label of a domain equals the name, and less
        /// if it only contains or resembles the name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature {
            $($(#[$doc])* $feature,)*
        }

        impl Feature {
            /// Every feature.
            pub const ALL: &[Self] = &[$(Self::$feature,)*];

            /// The feature's name in the table of weights.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$feature => $name,)*
                }
            }
        }
    };
}

features! {
    /// Always 1.
    Bias "bias",
    /// The names contain contradicting words: two numbers, north and south.
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
    /// The names are equal without spaces: their length in tens of letters.
    SameSquashedLong "same_squashed_long",
    /// The names have the same words, in any order and language.
    SameSorted "same_sorted",
    /// The names have the same words, but differ without spaces.
    SameSortedOnly "same_sorted_only",
    /// The names are equal without spaces, but their words differ.
    SameJoined "same_joined",
    /// The share of matching words in the asked name's rarity.
    AskedCovered "asked_covered",
    /// The share of matching words in the held name's rarity.
    HeldCovered "held_covered",
    /// The amount by which the sum of both shares exceeds one half.
    CoveredOverHalf "covered_over_half",
    /// The rarity of the rarest word that only the asked name has.
    AskedMissingMost "asked_missing_most",
    /// The total rarity of words that only the asked name has.
    AskedMissing "asked_missing",
    /// The total rarity of words that only the held name has.
    HeldMissing "held_missing",
    /// The total rarity of the matching words.
    Agreed "agreed",
    /// The total rarity of the matching words, at most one.
    AgreedSome "agreed_some",
    /// The total rarity of the matching words that are not general.
    AgreedSpecific "agreed_specific",
    /// The total rarity of the matching words that are not general, at most 0.8.
    AgreedSpecificSome "agreed_specific_some",
    /// Only general words agree.
    NoSpecific "no_specific",
    /// The rarity of the rarest non-general word that only the asked name has.
    AskedMissingSpecific "asked_missing_specific",
    /// The rarity of the rarest non-general word that only the held name has.
    HeldMissingSpecific "held_missing_specific",
    /// The share of translations and other equivalents in the matching words.
    Equivalent "equivalent",
    /// The share of misspelt words in the matching words.
    Misspelt "misspelt",
    /// The first word of the asked name matches a word of the held name.
    FirstAsked "first_asked",
    /// The first word of the held name matches a word of the asked name.
    FirstHeld "first_held",
    /// The Jaro-Winkler similarity of the names without spaces.
    Jaro "jaro",
    /// The Jaro-Winkler similarity above 0.9, in tenths.
    JaroHigh "jaro_high",
    /// The Sørensen-Dice similarity of their letter pairs.
    Dice "dice",
    /// The held name is one of the company's aliases.
    Alias "alias",
    /// The asked name is the initials of the held one.
    IsInitials "is_initials",
    /// The number of initials above three, in threes.
    IsInitialsLong "is_initials_long",
    /// The held name is the initials of the asked one.
    HasInitials "has_initials",
    /// A word is misspelt.
    Slip "slip",
    /// A word is misspelt and the rest is equal.
    SlipAlone "slip_alone",
    /// A word is misspelt and the rest is equal: the length of the shortest misspelt word in
    /// eights.
    SlipAloneLong "slip_alone_long",
    /// Two neighbouring letters are swapped.
    SlipSwapped "slip_swapped",
    /// A letter is doubled, or a double letter is single.
    SlipDoubled "slip_doubled",
    /// A letter is missing.
    SlipMissing "slip_missing",
    /// A letter is added.
    SlipAdded "slip_added",
    /// A neighbouring key was hit.
    SlipNear "slip_near",
    /// The first letter differs.
    SlipFirst "slip_first",
    /// How much less usual the letters of the misspelt word are than those of the correct word, in
    /// tens of nats, at most one.
    SlipOdd "slip_odd",
    /// The value of `SlipOdd`, if the rest of the names is equal.
    SlipAloneOdd "slip_alone_odd",
    /// Both names have the same legal form.
    FormAgrees "form_agrees",
    /// The names have different legal forms.
    FormDiffers "form_differs",
    /// The words in parentheses occur in the held name.
    AsideAgrees "aside_agrees",
    /// The name has non-general words in parentheses.
    Aside "aside",
    /// The name has a general word in parentheses, usually a place.
    AsidePlace "aside_place",
    /// The words in parentheses are part of a domain.
    AsideInDomain "aside_in_domain",
    /// A label equals the first words of the name: the share of these words in the name's rarity.
    LabelIsBeginning "label_is_beginning",
    /// A label contains the name: the name's share of the label.
    LabelHoldsName "label_holds_name",
    /// The name contains a label: the label's share of the name.
    NameHoldsLabel "name_holds_label",
    /// A label resembles the name: 0 if 30 % of the letters differ, 1 if none does.
    LabelLikeName "label_like_name",
    /// A label equals the name's initials.
    LabelIsInitials "label_is_initials",
    /// A label consists of the beginnings of words: the share of these words in the name's rarity.
    LabelOfParts "label_of_parts",
    /// A label consists of the beginnings of all words.
    LabelOfPartsFull "label_of_parts_full",
    /// A word equals a label: its rarity.
    WordIsLabel "word_is_label",
    /// A word begins a label: the word's share of the label.
    WordBeginsLabel "word_begins_label",
    /// A domain is a host below a registrable domain.
    IsHost "is_host",
    /// A label equals the name, and only general words agree.
    LabelIsNameGeneral "label_is_name_general",
    /// A label equals the name: its length in tens of letters.
    LabelIsNameLong "label_is_name_long",
    /// All words agree.
    ShapeAll "shape_all",
    /// All words agree: how well a label fits.
    ShapeAllLabel "shape_all_label",
    /// The asked name has more words, all of them general.
    ShapeMoreGeneral "shape_more_general",
    /// The asked name has more words, all of them general: how well a label fits.
    ShapeMoreGeneralLabel "shape_more_general_label",
    /// The asked name has more words.
    ShapeMore "shape_more",
    /// The asked name has more words: how well a label fits.
    ShapeMoreLabel "shape_more_label",
    /// The held name has more words, all of them general.
    ShapeLessGeneral "shape_less_general",
    /// The held name has more words, all of them general: how well a label fits.
    ShapeLessGeneralLabel "shape_less_general_label",
    /// The held name has more words.
    ShapeLess "shape_less",
    /// The held name has more words: how well a label fits.
    ShapeLessLabel "shape_less_label",
    /// Each name has words that the other lacks, all of them general.
    ShapeBothGeneral "shape_both_general",
    /// Each name has words that the other lacks, all of them general: how well a label fits.
    ShapeBothGeneralLabel "shape_both_general_label",
    /// Each name has words that the other lacks.
    ShapeBoth "shape_both",
    /// Each name has words that the other lacks: how well a label fits.
    ShapeBothLabel "shape_both_label",
    /// The asked name looks like an acronym.
    Acronym "acronym",
    /// The asked name looks like an acronym: how well a label equals it.
    AcronymLabel "acronym_label",
    /// The asked name looks like an acronym and equals the held name's initials.
    AcronymInitials "acronym_initials",
    /// The asked name equals the held name's initials: how well a label equals the asked name.
    InitialsAndLabel "initials_and_label",
    /// A word is misspelt: how well a label resembles the name.
    SlipAndLabel "slip_and_label",
    /// A label is the code of the state or province in the asked name.
    RegionHere "region_here",
    /// The first label ends with the code of the state or province in the asked name.
    RegionBehind "region_behind",
    /// The company is in the country that the asked name mentions.
    CountryAgrees "country_agrees",
    /// The company is in another country than the asked name mentions.
    CountryDiffers "country_differs",
    /// The company is in another country than the asked name mentions in parentheses.
    CountryAsideDiffers "country_aside_differs",
    /// The asked name is a domain that does not belong to the company.
    OtherDomain "other_domain",
    /// The asked name is one word.
    SingleWord "single_word",
    /// The total rarity of the asked name's words, at most four.
    RarityOfAll "rarity_of_all",
    /// The number of words in the asked name, in fives, at most two.
    Words "words",
    /// The number of letters in the asked name, in tens, at most three.
    Length "length",
}

/// The evidence for and against a candidate: the features present, with their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence(Vec<(Feature, f64)>);

impl Evidence {
    /// The features present, each once.
    pub fn features(&self) -> &[(Feature, f64)] {
        &self.0
    }

    /// The value of a feature; 0 if it is absent.
    pub fn of(&self, feature: Feature) -> f64 {
        self.0.iter().find(|(known, _)| *known == feature).map_or(0.0, |(_, value)| *value)
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
