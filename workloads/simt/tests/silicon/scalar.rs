//! Instructions of single lanes: the forms of `forms.txt`, each on some hundreds of operands.

use crate::kernel::{Inputs, Kernel, Module};
use crate::numbers::{Format, floats, hashes, integers};

const FORMS: &str = include_str!("forms.txt");
/// Forms of a kernel and, of about so many, of a module.
const KERNEL: usize = 12;
const MODULE: usize = 220;

/// Where operands come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    Integer,
    Bit,
    /// Half of them as far as shifts go.
    Shift,
    /// `fns` has places of bits, and counts on both sides of zero.
    Place,
    Count,
    Float(&'static str),
}

impl Domain {
    fn name(self) -> &'static str {
        match self {
            Self::Integer => "int",
            Self::Bit => "bit",
            Self::Shift => "shift",
            Self::Place => "base",
            Self::Count => "count",
            Self::Float(name) => name,
        }
    }

    fn of_type(text: &str) -> Self {
        match text.trim_end_matches("x2") {
            "f16" => Self::Float("f16"),
            "bf16" => Self::Float("bf16"),
            "f32" | "tf32" => Self::Float("f32"),
            "f64" => Self::Float("f64"),
            "e4m3" => Self::Float("e4m3"),
            "e5m2" => Self::Float("e5m2"),
            _ => Self::Integer,
        }
    }

    /// A format that is wider than the register is no float in it.
    fn in_register(self, width: usize) -> Self {
        match self {
            Self::Float(name)
                if Format::named(name).is_some_and(|it| it.bits() as usize > 8 * width) =>
            {
                Self::Integer
            }
            other => other,
        }
    }

    /// Where the `order`-th operands of `count` lie.
    fn place(self, inputs: &mut Inputs, width: usize, order: usize, count: usize) -> usize {
        let bits = 8 * width as u32;
        let name = format!("{}/{width}/{order}/{count}", self.name());
        let format = match self {
            Self::Float(name) => Format::named(name),
            _ => None,
        };
        let each = format.map_or(bits, Format::bits);
        let elements = count * (bits / each) as usize;
        let values = move |name: &str| match format {
            Some(format) => floats(name, elements, format),
            None => integers(name, elements, bits),
        };
        inputs.place(name, each, |name| match (self, format) {
            (Self::Integer, _) | (_, Some(_)) if order == 1 => {
                let first = format!("{}/{width}/0/{count}", self.name());
                let next = if format.is_some() { 1 << (each - 1) } else { 1 };
                partners(values(name), &values(&first), next)
            }
            (Self::Shift, _) => {
                let integers = integers(name, count, bits).into_iter();
                let pairs = integers.zip(hashes(name, count, 3));
                pairs
                    .map(|(integer, hash)| {
                        if hash & 1 == 1 {
                            (hash >> 8) % 80
                        } else {
                            integer
                        }
                    })
                    .collect()
            }
            (Self::Bit, _) => hashes(name, count, 1).map(|hash| hash & 1).collect(),
            (Self::Place, _) => hashes(name, count, 1).map(|hash| hash % 32).collect(),
            (Self::Count, _) => hashes(name, count, 1)
                .map(|hash| (hash % 73).wrapping_sub(36))
                .collect(),
            _ => values(name),
        })
    }
}

/// Of second operands some are the first ones, or next to them.
fn partners(mut own: Vec<u64>, first: &[u64], next: u64) -> Vec<u64> {
    for (at, (own, first)) in own.iter_mut().zip(first).enumerate() {
        match at / 2 % 8 {
            3 => *own = *first,
            5 => *own = first ^ next,
            _ => {}
        }
    }
    own
}

/// Integers of a lane's own.
pub fn operands(inputs: &mut Inputs, width: usize, order: usize, count: usize) -> usize {
    Domain::Integer.place(inputs, width, order, count)
}

/// Alternatives in braces, one text each.
fn expanded(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else {
        return vec![text.to_owned()];
    };
    let (choices, rest) = rest.split_once('}').expect("braces are closed");
    let rest = expanded(rest);
    let choices = choices.split(',');
    choices
        .flat_map(|choice| {
            rest.iter()
                .map(move |rest| format!("{before}{choice}{rest}"))
        })
        .collect()
}

/// An instruction: opcode with modifiers, and its operands.
#[derive(Clone)]
struct Form {
    opcode: String,
    operands: String,
}

impl Form {
    fn of_line(line: &str) -> Vec<Self> {
        let (opcodes, operands) = line.split_once(' ').expect("a form has operands");
        // Truth tables have alternatives.
        let operands = match operands.contains("{0x") {
            true => expanded(operands),
            false => vec![operands.to_owned()],
        };
        let forms = expanded(opcodes).into_iter();
        forms
            .flat_map(|opcode| {
                let operands = operands.iter().cloned();
                operands.map(move |operands| Self {
                    opcode: opcode.clone(),
                    operands,
                })
            })
            .collect()
    }

    fn name(&self) -> String {
        format!("{} {}", self.opcode, self.operands)
    }

    fn has(&self, modifier: &str) -> bool {
        self.opcode.split('.').any(|name| name == modifier)
    }

    /// The first operand, of a vector all of it.
    fn destination(&self) -> &str {
        let end = match self.operands.starts_with('{') {
            true => self.operands.find('}').map(|at| at + 1),
            false => self.operands.find(','),
        };
        &self.operands[..end.unwrap_or(self.operands.len())]
    }

    fn sources(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for register in registers_in(&self.operands[self.destination().len()..]) {
            if !found.contains(&register) {
                found.push(register);
            }
        }
        found
    }

    fn types(&self) -> impl Iterator<Item = &str> {
        self.opcode.split('.').skip(1).filter(|name| {
            let name = name.trim_end_matches("x2");
            let plain = name
                .strip_prefix("bf")
                .or(name.strip_prefix(['u', 's', 'b', 'f']));
            let numbered = plain.is_some_and(|rest| {
                !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
            });
            numbered || matches!(name, "tf32" | "e4m3" | "e5m2")
        })
    }

    fn domains(&self) -> Vec<Domain> {
        let sources = self.sources().len();
        let of = |text: Option<&str>| text.map_or(Domain::Integer, Domain::of_type);
        let last = of(self.types().last());
        let opcode = self.opcode.split('.').next();
        let before_shifts = match opcode {
            Some("bmsk") => Some(0),
            Some("shl" | "shr" | "vshl" | "vshr" | "bfe" | "szext") => Some(1),
            Some("shf" | "bfi") => Some(2),
            _ => None,
        };
        if let Some(count) = before_shifts {
            let mut domains = vec![Domain::Shift; sources];
            domains[..count].fill(Domain::Integer);
            return domains;
        }
        match opcode {
            Some("fns") => vec![Domain::Integer, Domain::Place, Domain::Count],
            Some("slct") => {
                let chosen = of(self.types().next());
                vec![chosen, chosen, last]
            }
            _ => vec![last; sources],
        }
    }
}

fn registers_in(text: &str) -> Vec<&str> {
    let starts = text.match_indices('%');
    starts.map(|(at, _)| &text[at..at + 3]).collect()
}

fn width_of(register: &str) -> usize {
    match register.as_bytes()[1] {
        b'h' => 2,
        b'd' => 8,
        _ => 4,
    }
}

/// The modules of all forms, and what they read.
pub fn modules(inputs: &mut Inputs) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    let mut section = "";
    let (mut number, mut forms) = (0, 0);
    for line in FORMS.lines() {
        if let Some(name) = line.strip_prefix("= ") {
            (section, number, forms) = (name, 0, 0);
            continue;
        }
        let found = Form::of_line(line);
        let opcodes = expanded(line.split(' ').next().unwrap_or_default()).len();
        if number == 0 || forms + opcodes > MODULE {
            modules.push(Module::new(format!("{section}_{number}")));
            (number, forms) = (number + 1, 0);
        }
        forms += opcodes;
        let module = modules.last_mut().expect("one was pushed");
        line_of_forms(module, section, found, inputs);
    }
    modules
}

fn line_of_forms(module: &mut Module, section: &str, forms: Vec<Form>, inputs: &mut Inputs) {
    let count = match section {
        "video" => 256,
        "convert" | "compare" | "halfcompare" | "atomics" => 512,
        _ => 1024,
    };
    let mut groups: Vec<(Vec<Domain>, Vec<Form>)> = Vec::new();
    for form in forms {
        let domains = form.domains();
        match groups.iter_mut().find(|(known, _)| *known == domains) {
            Some((_, group)) => group.push(form),
            None => groups.push((domains, vec![form])),
        }
    }
    for (domains, group) in groups {
        for forms in group.chunks(KERNEL) {
            let kernel = module.kernel(32, count / 32, 0);
            for (order, (register, domain)) in
                forms[0].sources().into_iter().zip(&domains).enumerate()
            {
                load(kernel, (register, *domain), order, inputs);
            }
            if section == "carry" {
                let place = Domain::Bit.place(inputs, 4, 9, count);
                kernel.load_one("%t5", 4, place);
            }
            for form in forms {
                match section {
                    "carry" => with_carry(kernel, form),
                    "atomics" => atomic(kernel, form, inputs),
                    _ => plain(kernel, form),
                }
            }
        }
    }
}

fn load(
    kernel: &mut Kernel,
    (register, domain): (&str, Domain),
    order: usize,
    inputs: &mut Inputs,
) {
    let width = width_of(register);
    if register.starts_with("%p") {
        let place = Domain::Bit.place(inputs, 4, order, kernel.threads());
        kernel.load_one("%t4", 4, place);
        kernel.line(format!("setp.ne.u32 {register}, %t4, 0;"));
    } else {
        let place = domain
            .in_register(width)
            .place(inputs, width, order, kernel.threads());
        kernel.load_one(register, width, place);
    }
}

fn plain(kernel: &mut Kernel, form: &Form) {
    let name = form.name();
    kernel.line(format!("{name};"));
    let destination = form.destination();
    if destination.starts_with('{') {
        let registers: Vec<String> = registers_in(destination)
            .into_iter()
            .map(str::to_owned)
            .collect();
        kernel.store(name, &registers, width_of(&registers[0]));
        return;
    }
    for (at, register) in registers_in(destination).into_iter().enumerate() {
        let name = match at {
            0 => name.clone(),
            _ => format!("{name} #{at}"),
        };
        match register.starts_with("%p") {
            true => kernel.store_predicate(name, register),
            false => kernel.store_one(name, register, width_of(register)),
        }
    }
}

/// The carry comes from an operand, and is stored as a word of its own.
fn with_carry(kernel: &mut Kernel, form: &Form) {
    let name = form.name();
    let subtracts = form.opcode.starts_with("sub");
    let goes_out = form.has("cc");
    if ["addc", "subc", "madc"]
        .iter()
        .any(|opcode| form.opcode.starts_with(opcode))
    {
        kernel.line(if subtracts {
            "sub.cc.u32 %t6, 0, %t5;"
        } else {
            "add.cc.u32 %t6, %t5, -1;"
        });
    }
    kernel.line(format!("{name};"));
    if goes_out {
        kernel.line(if subtracts {
            "subc.u32 %t7, 0, 0;"
        } else {
            "addc.u32 %t7, 0, 0;"
        });
    }
    let destination = form.destination();
    kernel.store_one(name.clone(), destination, width_of(destination));
    if goes_out {
        kernel.store_one(format!("{name} #carry"), "%t7", 4);
    }
}

/// Each thread on a place of its own: what was there, and what is there then.
fn atomic(kernel: &mut Kernel, form: &Form, inputs: &mut Inputs) {
    let name = form.name();
    let operand = form.sources()[0];
    let (kind, width) = (&operand[1..2], width_of(operand));
    let bits = 8 * width;
    let domain = Domain::of_type(form.opcode.rsplit('.').next().unwrap_or_default());
    let place = domain.place(inputs, width, 7, kernel.threads());
    kernel.load_one(&format!("%{kind}7"), width, place);
    if form.has("cas") {
        // Every other thread compares with what is there.
        kernel.line(format!("and.b32 %t4, %t0, 1; setp.ne.u32 %p1, %t4, 0; selp.b{bits} {operand}, {operand}, %{kind}7, %p1;"));
    }
    let shared = form.has("shared");
    let address = if shared {
        kernel.variable(".shared .align 16 .b8 cells[1024];");
        kernel.line(format!("mov.u32 %t4, cells; mad.lo.u32 %t4, %t2, {width}, %t4; st.shared.b{bits} [%t4], %{kind}7;"));
        "%t4".to_owned()
    } else {
        let out = kernel.out;
        kernel.line(format!(
            "mad.wide.u32 %a2, %t0, {width}, %out; st.global.b{bits} [%a2+{out}], %{kind}7;"
        ));
        format!("%a2+{out}")
    };
    kernel.line(format!("{};", name.replace("[M]", &format!("[{address}]"))));
    let after = format!("{name} #memory");
    if shared {
        kernel.line(format!("ld.shared.b{bits} %{kind}8, [%t4];"));
        kernel.store_one(after, &format!("%{kind}8"), width);
    } else {
        kernel.outcome(after, kernel.threads() * width, width);
    }
    if form.opcode.starts_with("atom") {
        kernel.store_one(name, form.destination(), width);
    }
}
