//! The evidence for and against a candidate: the values of its features.

use super::feature::Feature;

/// The evidence for and against one candidate: each feature that is not 0, with its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence(Vec<(Feature, f64)>);

impl Evidence {
    /// Returns the features that are not 0, with their values. No feature is in the list twice.
    pub fn features(&self) -> &[(Feature, f64)] {
        &self.0
    }

    /// Returns the value of a feature; 0 if the evidence does not contain it.
    pub fn of(&self, feature: Feature) -> f64 {
        self.0.iter().find(|(known, _)| *known == feature).map_or(0.0, |(_, value)| *value)
    }

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
