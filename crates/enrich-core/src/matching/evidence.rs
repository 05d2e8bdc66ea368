//! What speaks for and against a company being meant: named features, each with how much of it
//! there is.

/// Lists the features with their names, so that weights are read by name.
macro_rules! features {
    ($($(#[$doc:meta])* $feature:ident $name:literal,)*) => {
        /// Something that speaks for or against a candidate. "Asked" is the name that was asked
        /// for, "held" that of the candidate; rarities are in tens of nats; what says no unit is
        /// 0 or 1, or a share.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature {
            $($(#[$doc])* $feature,)*
        }

        impl Feature {
            /// Every feature.
            pub const ALL: &[Self] = &[$(Self::$feature,)*];

            /// Its name in the table of weights.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$feature => $name,)*
                }
            }
        }
    };
}

features! {
    /// There always.
    Bias "bias",
    /// Each has a word that contradicts one of the other: two numbers, north and south.
    Contrast "contrast",
    /// Each has a word of another kind of house or subject: a school and a hospital.
    ContrastKind "contrast_kind",
    /// The names are the same but for case, accents and punctuation.
    SameFolded "same_folded",
    /// The same without legal forms and an article.
    SameStripped "same_stripped",
    /// The same without spaces.
    SameSquashed "same_squashed",
    /// The same without spaces, by how many tens of letters.
    SameSquashedLong "same_squashed_long",
    /// The same words, in whatever order and language.
    SameSorted "same_sorted",
    /// The same words, but not the same without spaces.
    SameSortedOnly "same_sorted_only",
    /// The same without spaces, but not word by word.
    SameJoined "same_joined",
    /// The share of the asked name's rarity that agrees.
    AskedCovered "asked_covered",
    /// The share of the held name's rarity that agrees.
    HeldCovered "held_covered",
    /// What both shares together have above one half.
    CoveredOverHalf "covered_over_half",
    /// The rarest word that only the asked name has.
    AskedMissingMost "asked_missing_most",
    /// All that only the asked name has.
    AskedMissing "asked_missing",
    /// All that only the held name has.
    HeldMissing "held_missing",
    /// All that agrees.
    Agreed "agreed",
    /// All that agrees, up to one.
    AgreedSome "agreed_some",
    /// What agrees of words that are no general ones.
    AgreedSpecific "agreed_specific",
    /// The same, up to 0.8.
    AgreedSpecificSome "agreed_specific_some",
    /// Nothing agrees but general words.
    NoSpecific "no_specific",
    /// The rarest word, no general one, that only the asked name has.
    AskedMissingSpecific "asked_missing_specific",
    /// The rarest word, no general one, that only the held name has.
    HeldMissingSpecific "held_missing_specific",
    /// The share of what agrees that is translated or otherwise equivalent.
    Equivalent "equivalent",
    /// The share of what agrees that is misspelt.
    Misspelt "misspelt",
    /// The first word that was asked for agrees.
    FirstAsked "first_asked",
    /// The first word of the held name agrees.
    FirstHeld "first_held",
    /// The Jaro-Winkler similarity of the names without spaces.
    Jaro "jaro",
    /// The same above 0.9, in tenths.
    JaroHigh "jaro_high",
    /// The Sørensen-Dice similarity of their pairs of letters.
    Dice "dice",
    /// The held name is not the company's own but another one.
    Alias "alias",
    /// The asked name is the initials of the held one.
    IsInitials "is_initials",
    /// How many more than three initials, in threes.
    IsInitialsLong "is_initials_long",
    /// The held name is the initials of the asked one.
    HasInitials "has_initials",
    /// A word is misspelt.
    Slip "slip",
    /// A word is misspelt and nothing else differs.
    SlipAlone "slip_alone",
    /// The same, by how many letters the shortest misspelt word has, in eights.
    SlipAloneLong "slip_alone_long",
    /// Two neighbours are swapped.
    SlipSwapped "slip_swapped",
    /// A letter is doubled or not.
    SlipDoubled "slip_doubled",
    /// A letter is missing.
    SlipMissing "slip_missing",
    /// There is a letter too many.
    SlipAdded "slip_added",
    /// A key beside the right one was hit.
    SlipNear "slip_near",
    /// The first letter is another.
    SlipFirst "slip_first",
    /// How much odder the letters of the misspelt word are than those of the right one, in tens of
    /// nats, up to one.
    SlipOdd "slip_odd",
    /// The same where nothing else differs.
    SlipAloneOdd "slip_alone_odd",
    /// Both names have the same legal form.
    FormAgrees "form_agrees",
    /// Both have one, and they differ.
    FormDiffers "form_differs",
    /// What stands in parentheses is among the held name's words.
    AsideAgrees "aside_agrees",
    /// Something stands in parentheses that is no general word.
    Aside "aside",
    /// A general word, mostly a place, stands in parentheses.
    AsidePlace "aside_place",
    /// What stands in parentheses is part of a domain.
    AsideInDomain "aside_in_domain",
    /// A label is the first words of the name: their share of its rarity.
    LabelIsBeginning "label_is_beginning",
    /// A label holds the name: its share of the label.
    LabelHoldsName "label_holds_name",
    /// The name holds a label: its share of the name.
    NameHoldsLabel "name_holds_label",
    /// A label is like the name: 0 where 30 % of the letters differ, 1 where none.
    LabelLikeName "label_like_name",
    /// A label is the name's initials.
    LabelIsInitials "label_is_initials",
    /// A label is made of beginnings of words: their share of the name's rarity.
    LabelOfParts "label_of_parts",
    /// They are all of the words.
    LabelOfPartsFull "label_of_parts_full",
    /// A word is a label: its rarity.
    WordIsLabel "word_is_label",
    /// A word begins a label: its share of the label.
    WordBeginsLabel "word_begins_label",
    /// A domain is a host below a registrable one.
    IsHost "is_host",
    /// A label is the name, and no agreeing word is more than general.
    LabelIsNameGeneral "label_is_name_general",
    /// A label is the name, by how many tens of letters.
    LabelIsNameLong "label_is_name_long",
    /// All words agree.
    ShapeAll "shape_all",
    /// The same, by how well a label fits.
    ShapeAllLabel "shape_all_label",
    /// The asked name has more words, all of them general.
    ShapeMoreGeneral "shape_more_general",
    /// The same, by how well a label fits.
    ShapeMoreGeneralLabel "shape_more_general_label",
    /// The asked name has more words.
    ShapeMore "shape_more",
    /// The same, by how well a label fits.
    ShapeMoreLabel "shape_more_label",
    /// The held name has more words, all of them general.
    ShapeLessGeneral "shape_less_general",
    /// The same, by how well a label fits.
    ShapeLessGeneralLabel "shape_less_general_label",
    /// The held name has more words.
    ShapeLess "shape_less",
    /// The same, by how well a label fits.
    ShapeLessLabel "shape_less_label",
    /// Both have words that the other lacks, all of them general.
    ShapeBothGeneral "shape_both_general",
    /// The same, by how well a label fits.
    ShapeBothGeneralLabel "shape_both_general_label",
    /// Both have words that the other lacks.
    ShapeBoth "shape_both",
    /// The same, by how well a label fits.
    ShapeBothLabel "shape_both_label",
    /// The asked name looks like an acronym.
    Acronym "acronym",
    /// The same, and a label is it.
    AcronymLabel "acronym_label",
    /// The same, and it is the held name's initials.
    AcronymInitials "acronym_initials",
    /// The asked name is the initials, and a label.
    InitialsAndLabel "initials_and_label",
    /// A word is misspelt, by how like the name a label is.
    SlipAndLabel "slip_and_label",
    /// A label is the code of the state or province that was named.
    RegionHere "region_here",
    /// The first label ends with that code.
    RegionBehind "region_behind",
    /// The company is in the country that the name speaks of.
    CountryAgrees "country_agrees",
    /// It is in another one.
    CountryDiffers "country_differs",
    /// It is in another one than the name says in parentheses.
    CountryAsideDiffers "country_aside_differs",
    /// The asked name is a domain that is not the company's.
    OtherDomain "other_domain",
    /// The asked name is one word.
    SingleWord "single_word",
    /// How rare its words are together, up to four.
    RarityOfAll "rarity_of_all",
    /// How many words it has, in fives, up to two.
    Words "words",
    /// How many letters it has, in tens, up to three.
    Length "length",
}

/// What speaks for and against a candidate: the features that are there and how much of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence(Vec<(Feature, f64)>);

impl Evidence {
    /// The features that are there, each once.
    pub fn features(&self) -> &[(Feature, f64)] {
        &self.0
    }

    /// How much there is of a feature.
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
