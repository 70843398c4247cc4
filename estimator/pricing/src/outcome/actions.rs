//! What happened to a structure and what it cost.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::PricedAction;

/// What has a price, in the order of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A read.
    Read,
    /// A search by content.
    Search,
    /// Switching a part on.
    Wake,
    /// A write.
    Write,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Search, Self::Wake, Self::Write];

    /// Its name, as the counters end in.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Search => "search",
            Self::Wake => "wake",
            Self::Write => "write",
        }
    }

    /// The action of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// The actions that were counted, each with its price. They stand in the structure itself: a study has tens of them a point, a million points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Actions([Option<PricedAction>; Action::ALL.len()]);

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Actions {
    /// Puts an action in the place of what was there of it.
    pub fn insert(&mut self, action: Action, priced: PricedAction) {
        self.0[action as usize] = Some(priced);
    }

    /// One of them.
    pub fn of(&self, action: Action) -> Option<&PricedAction> {
        self.0[action as usize].as_ref()
    }

    /// The action of this name.
    pub fn get(&self, name: &str) -> Option<&PricedAction> {
        self.of(Action::named(name)?)
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (Action, &PricedAction)> {
        let all = Action::ALL.into_iter().zip(&self.0);
        all.filter_map(|(action, priced)| Some((action, priced.as_ref()?)))
    }

    /// The same, to price them again.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Action, &mut PricedAction)> {
        let all = Action::ALL.into_iter().zip(&mut self.0);
        all.filter_map(|(action, priced)| Some((action, priced.as_mut()?)))
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.iter().map(|(action, _)| action.name())
    }

    /// What they cost together.
    pub fn total_j(&self) -> f64 {
        self.iter().map(|(_, priced)| priced.total_j).sum()
    }
}

impl FromIterator<(Action, PricedAction)> for Actions {
    fn from_iter<I: IntoIterator<Item = (Action, PricedAction)>>(all: I) -> Self {
        let mut actions = Self::default();
        for (action, priced) in all {
            actions.insert(action, priced);
        }
        actions
    }
}

/// As an object, by name.
impl Serialize for Actions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.iter().count()))?;
        for (action, priced) in self.iter() {
            map.serialize_entry(action.name(), priced)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Actions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByName)
    }
}

struct ByName;

impl<'de> Visitor<'de> for ByName {
    type Value = Actions;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("actions by name")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Actions, M::Error> {
        let mut actions = Actions::default();
        while let Some(name) = map.next_key::<String>()? {
            let action = Action::named(&name)
                .ok_or_else(|| M::Error::custom(format!("`{name}` is no action")))?;
            actions.insert(action, map.next_value()?);
        }
        Ok(actions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priced(count: u64) -> PricedAction {
        PricedAction {
            count,
            unit_j: 2.0,
            total_j: 2.0 * count as f64,
        }
    }

    /// Whatever order they come in, they stand by name, as the map does that they are written as.
    #[test]
    fn actions_stand_by_name_and_are_read_as_they_are_written() {
        let actions: Actions = [(Action::Write, priced(1)), (Action::Read, priced(3))]
            .into_iter()
            .collect();
        assert!(actions.names().eq(["read", "write"]));
        assert_eq!(actions.total_j(), 8.0);
        assert_eq!(actions.get("read"), Some(&priced(3)));
        assert_eq!(actions.get("search"), None);
        let text = serde_json::to_string(&actions).unwrap();
        assert!(text.starts_with(r#"{"read":{"count":3,"#), "{text}");
        assert_eq!(serde_json::from_str::<Actions>(&text).unwrap(), actions);
        assert!(Actions::default().is_empty() && !actions.is_empty());
    }

    #[test]
    fn what_has_no_price_is_no_action() {
        let text = r#"{"flush": {"count": 1, "unit_j": 1.0, "total_j": 1.0}}"#;
        let error = serde_json::from_str::<Actions>(text).unwrap_err();
        assert!(
            error.to_string().contains("`flush` is no action"),
            "{error}"
        );
    }

    #[test]
    fn names_are_in_order_and_find_their_actions() {
        assert!(Action::ALL.map(Action::name).is_sorted());
        for (place, action) in Action::ALL.into_iter().enumerate() {
            assert_eq!(action as usize, place);
            assert_eq!(Action::named(action.name()), Some(action));
        }
    }
}
