//! Ids: UUIDs whose first bytes are the time of their creation.

use jiff::Timestamp;
use uuid::Uuid;

/// Defines a type for the ids of one kind of thing. Because each kind has its own type, the
/// compiler refuses an id of the wrong kind.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub ::uuid::Uuid);

        impl $name {
            /// Creates an id: a UUID v7 (RFC 9562) with the time `now`.
            pub fn new(now: ::jiff::Timestamp) -> Self {
                Self($crate::id::uuid_at(now))
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = ::uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}
pub(crate) use id;

/// Creates a UUID v7 with the time `now` and random bits from the system.
pub(crate) fn uuid_at(now: Timestamp) -> Uuid {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanos = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos))
}
