//! What a point is kept under.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::hex;

/// The hash of everything that decides a point's result. People and JSON see it in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointKey(pub [u8; 32]);

impl fmt::Display for PointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl Serialize for PointKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for PointKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let refused = || D::Error::custom(format!("`{text}` is not the key of a point"));
        let mut key = [0; 32];
        if text.len() != 2 * key.len() || !text.is_ascii() {
            return Err(refused());
        }
        for (byte, place) in key.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&text[place..place + 2], 16).map_err(|_| refused())?;
        }
        Ok(PointKey(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_through_json_as_text() {
        let key = PointKey(std::array::from_fn(|byte| 7 * byte as u8));
        let text = serde_json::to_string(&key).unwrap();
        assert_eq!(text.len(), 66);
        assert_eq!(serde_json::from_str::<PointKey>(&text).unwrap(), key);
        for wrong in [
            "\"\"",
            "\"00\"",
            &text.replace('0', "g"),
            &text.replace("07", "+7"),
        ] {
            assert!(serde_json::from_str::<PointKey>(wrong).is_err(), "{wrong}");
        }
    }
}
