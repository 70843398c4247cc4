//! Kernels that run many instructions each, what they read, and where their results go.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What all kernels read.
#[derive(Default)]
pub struct Inputs {
    places: BTreeMap<String, usize>,
    pub bytes: Vec<u8>,
}

impl Inputs {
    /// Where the values of that name lie, which are made if they are not there yet: `bits` of each.
    pub fn place(&mut self, name: String, bits: u32, make: impl FnOnce(&str) -> Vec<u64>) -> usize {
        let Self { places, bytes } = self;
        *places.entry(name).or_insert_with_key(|name| {
            let place = bytes.len();
            for value in make(name) {
                bytes.extend_from_slice(&value.to_le_bytes()[..bits as usize / 8]);
            }
            bytes.resize(bytes.len().next_multiple_of(256), 0);
            place
        })
    }
}

/// What one instruction leaves.
pub struct Outcome {
    /// The instruction, and what is peculiar to the case.
    pub name: String,
    pub at: usize,
    pub bytes: usize,
    /// Bytes of a value.
    pub width: usize,
}

/// Registers of a kernel: `%p`, `%h`, `%r` and `%d` are the instructions'; `%t`, `%tp` and `%a` those of what loads and stores for them.
pub struct Kernel {
    pub name: String,
    pub block: usize,
    pub grid: usize,
    /// Bytes of dynamic shared memory.
    pub shared: usize,
    /// What lies there before it runs, in every byte.
    pub fill: u8,
    /// Bytes of results.
    pub out: usize,
    pub outcomes: Vec<Outcome>,
    variables: String,
    body: String,
}

/// Registers with one after the other numbers.
pub fn registers(kind: char, first: usize, count: usize) -> Vec<String> {
    (first..first + count)
        .map(|number| format!("%{kind}{number}"))
        .collect()
}

pub fn vector(registers: &[String]) -> String {
    format!("{{{}}}", registers.join(", "))
}

fn suffix(width: usize) -> &'static str {
    ["", "b8", "b16", "", "b32", "", "", "", "b64"][width]
}

impl Kernel {
    pub fn threads(&self) -> usize {
        self.block * self.grid
    }

    pub fn line(&mut self, text: impl AsRef<str>) {
        self.body.push_str(text.as_ref());
        self.body.push('\n');
    }

    /// A name for a label that no other has.
    pub fn label(&self) -> String {
        format!("{}_{}", self.name, self.body.len())
    }

    pub fn variable(&mut self, text: &str) {
        self.variables = text.to_owned();
    }

    /// Each thread's own values.
    pub fn load(&mut self, registers: &[String], width: usize, place: usize) {
        self.line(format!(
            "mad.wide.u32 %a1, %t0, {}, %in;",
            width * registers.len()
        ));
        for (at, register) in registers.iter().enumerate() {
            self.line(format!(
                "ld.global.{} {register}, [%a1+{}];",
                suffix(width),
                place + width * at
            ));
        }
    }

    pub fn load_one(&mut self, register: &str, width: usize, place: usize) {
        self.load(&[register.to_owned()], width, place);
    }

    /// Room for what an instruction leaves.
    pub fn outcome(&mut self, name: impl Into<String>, bytes: usize, width: usize) {
        let at = self.out;
        self.outcomes.push(Outcome {
            name: name.into(),
            at,
            bytes,
            width,
        });
        self.out += bytes.next_multiple_of(256);
    }

    /// Each thread's results.
    pub fn store(&mut self, name: impl Into<String>, registers: &[String], width: usize) {
        self.line(format!(
            "mad.wide.u32 %a1, %t0, {}, %out;",
            width * registers.len()
        ));
        for (at, register) in registers.iter().enumerate() {
            let line = format!(
                "st.global.{} [%a1+{}], {register};",
                suffix(width),
                self.out + width * at
            );
            self.line(line);
        }
        self.outcome(name, self.threads() * registers.len() * width, width);
    }

    pub fn store_one(&mut self, name: impl Into<String>, register: &str, width: usize) {
        self.store(name, &[register.to_owned()], width);
    }

    pub fn store_predicate(&mut self, name: impl Into<String>, predicate: &str) {
        self.line(format!("selp.b32 %t3, 1, 0, {predicate};"));
        self.store_one(name, "%t3", 1);
    }
}

/// Kernels that are compiled together.
pub struct Module {
    pub name: String,
    pub kernels: Vec<Kernel>,
}

impl Module {
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kernels: Vec::new(),
        }
    }

    pub fn kernel(&mut self, block: usize, grid: usize, shared: usize) -> &mut Kernel {
        let name = format!("{}_{}", self.name, self.kernels.len());
        self.kernels.push(Kernel {
            name,
            block,
            grid,
            shared,
            fill: 0xa5,
            out: 0,
            outcomes: Vec::new(),
            variables: String::new(),
            body: String::new(),
        });
        self.kernels.last_mut().expect("one was pushed")
    }

    pub fn source(&self) -> String {
        let mut text = ".version 8.7\n.target sm_90a\n.address_size 64\n".to_owned();
        if self.kernels.iter().any(|kernel| kernel.shared > 0) {
            text += ".extern .shared .align 1024 .b8 dyn[];\n";
        }
        for Kernel {
            name,
            variables,
            body,
            ..
        } in &self.kernels
        {
            write!(
                text,
                ".visible .entry {name}(.param .u64 p0, .param .u64 p1)
{{ .reg .pred %p<10>, %tp<4>; .reg .b16 %h<10>; .reg .b32 %r<200>, %t<40>; .reg .b64 %d<20>, %a<20>, %in, %out;
{variables}
mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2;
ld.param.u64 %in, [p0]; ld.param.u64 %out, [p1];
{body}ret; }}
"
            )
            .expect("a text takes all");
        }
        text
    }
}
