//! Reading of what a host does between launches: `set` and `copy`.

use toml::Spanned;

use super::case::Arguments;
use super::fields::{Fields, Unknown};
use super::step::check_names;
use crate::launch::{Access, Action, Copying, Form, Home, Problem, Role, Set};

const SET_KEYS: [&str; 4] = ["buffer", "value", "at", "count"];
const COPY_KEYS: [&str; 5] = ["from", "to", "from_at", "to_at", "count"];

/// Where it stands, and which variables are around it.
pub(super) struct Around<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) scope: &'a [String],
}

/// `set = { buffer = "over", value = 0 }`.
pub(super) fn read_set(fields: &mut Fields<'_, '_>, around: &Around<'_>) -> Option<Action> {
    fields.check_keys(&SET_KEYS, Unknown::Refused);
    let name = fields.require_string_at("buffer", "the buffer whose elements are set");
    let value = around.form(fields, "value");
    let at = around.form(fields, "at");
    let count = around.form(fields, "count");
    Some(Action::Set(Set {
        buffer: around.written(&name?, fields.problems())?,
        value: value.unwrap_or(Form::Constant(0.0)),
        at: at.unwrap_or(Form::Constant(0.0)),
        count,
        span: fields.span(),
    }))
}

/// `copy = { from = "next", to = "now" }`.
pub(super) fn read_copy(fields: &mut Fields<'_, '_>, around: &Around<'_>) -> Option<Action> {
    fields.check_keys(&COPY_KEYS, Unknown::Refused);
    let from = fields.require_string_at("from", "the buffer that is read");
    let to = fields.require_string_at("to", "the buffer that is written");
    let from_at = around
        .form(fields, "from_at")
        .unwrap_or(Form::Constant(0.0));
    let to_at = around.form(fields, "to_at").unwrap_or(Form::Constant(0.0));
    let count = around.form(fields, "count");
    let (from, to) = (from?, to?);
    let source = around.buffer(&from, fields.problems());
    let target = around.written(&to, fields.problems());
    let (source, target) = (source?, target?);
    let [read, written] = [source, target].map(|at| around.arguments.list[at].element);
    if read.bytes() != written.bytes() {
        let message = format!(
            "elements of `{}` are {}, those of `{}` are {}: a copy needs one size",
            from.get_ref(),
            read.name(),
            to.get_ref(),
            written.name()
        );
        fields.problem(Problem::new(fields.span(), message));
        return None;
    }
    Some(Action::Copy(Copying {
        from: (source, from_at),
        to: (target, to_at),
        count,
        span: fields.span(),
    }))
}

impl Around<'_> {
    /// A number or an expression over the variables around.
    fn form(&self, fields: &mut Fields<'_, '_>, key: &str) -> Option<Form> {
        let form = fields.form(key, &self.arguments.constants)?;
        let names = check_names(&form, self.scope, &self.arguments.constants);
        names.map_err(|problem| fields.problem(problem)).ok()?;
        Some(form)
    }

    fn buffer(&self, name: &Spanned<String>, problems: &mut Vec<Problem>) -> Option<usize> {
        let at = self.arguments.position(name, problems)?;
        let objection = match &self.arguments.list[at].role {
            Role::Buffer(buffer) if !matches!(buffer.home, Home::Parameter) => return Some(at),
            _ => format!("`{}` is no buffer in memory", name.get_ref()),
        };
        problems.push(Problem::new(name.span(), objection));
        None
    }

    /// A buffer that may change.
    fn written(&self, name: &Spanned<String>, problems: &mut Vec<Problem>) -> Option<usize> {
        let at = self.buffer(name, problems)?;
        match &self.arguments.list[at].role {
            Role::Buffer(buffer) if buffer.access == Access::In => {
                let message = format!("`{}` is an input, which does not change", name.get_ref());
                let problem = Problem::new(name.span(), message);
                problems.push(problem.help("its kind would be \"inout\""));
                None
            }
            _ => Some(at),
        }
    }
}
