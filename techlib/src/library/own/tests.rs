use approx::assert_relative_eq;

use super::*;
use crate::How;

fn nothing(_: &str, written: &str) -> Result<(String, String), String> {
    Err(format!("there is no file `{written}`"))
}

fn read(text: &str) -> Result<OwnNode, Vec<Fault>> {
    OwnNode::read("my.toml", text, &mut nothing)
}

const FASTER: &str = "extends = \"silicon:7nm\"\n[[value]]\nname = \"hp.i_on_n\"\nvalue = \"0.8e-3 A/um\"\nsource = \"our test chip\"\nhow = \"measured\"\nuncertainty = 0.03\n";

#[test]
fn what_a_file_says_replaces_the_library_s_value_and_nothing_else() {
    let own = read(FASTER).unwrap();
    assert_eq!((own.name(), own.base()), ("my.toml", "silicon:7nm"));
    let [change] = own.overrides() else {
        panic!("{:?}", own.overrides());
    };
    assert_eq!(
        (change.name.as_str(), change.value.as_str()),
        ("hp.i_on_n", "0.8e-3 A/um")
    );
    assert!(change.before.starts_with("0.000695"), "{}", change.before);
    let ours = own.technology(Flavour::Hp).unwrap();
    let base = Library::silicon()
        .unwrap()
        .node("7nm", Flavour::Hp)
        .unwrap();
    let ratio = 0.8e-3 / 0.000_695_891;
    assert_relative_eq!(
        ours.device.i_on_n.value / base.device.i_on_n.value,
        ratio,
        max_relative = 1e-9
    );
    assert_relative_eq!(
        base.device.r_n_on.value / ours.device.r_n_on.value,
        ratio,
        max_relative = 1e-9
    );
    assert_eq!(&*ours.device.i_on_n.source, "our test chip");
    assert_eq!(&*ours.library, "my.toml (silicon:7nm)");
    assert_eq!(ours.device.vdd, base.device.vdd);
    assert_eq!(ours.wires, base.wires);
    assert_eq!(
        own.technology(Flavour::Lstp).unwrap().device.i_on_n.how,
        Library::silicon()
            .unwrap()
            .node("7nm", Flavour::Lstp)
            .unwrap()
            .device
            .i_on_n
            .how
    );
}

#[test]
fn a_file_may_extend_a_file_and_the_nearer_one_wins() {
    let base = format!(
        "{FASTER}[[value]]\nname = \"hp.vdd\"\nvalue = \"0.75 V\"\nsource = \"x\"\nhow = {{ assumed = \"overdrive\" }}\nuncertainty = 0.02\n"
    );
    let text = "extends = \"base.toml\"\n[[value]]\nname = \"hp.vdd\"\nvalue = \"0.72 V\"\nsource = \"y\"\nhow = { scaled = \"by hand\" }\nuncertainty = 0.02\n";
    let mut load = |_: &str, written: &str| Ok((written.to_owned(), base.clone()));
    let own = OwnNode::read("my.toml", text, &mut load).unwrap();
    let hp = own.technology(Flavour::Hp).unwrap();
    let changes = own.overrides().iter();
    let changes: Vec<(&str, &str)> = changes
        .map(|c| (c.name.as_str(), c.source.as_str()))
        .collect();
    assert_eq!(changes, [("hp.i_on_n", "our test chip"), ("hp.vdd", "y")]);
    assert_eq!(own.overrides()[1].before, "0.7 V", "the library's");
    assert_relative_eq!(hp.device.vdd.value.as_v(), 0.72);
    assert!(matches!(hp.device.vdd.how, How::Scaled { .. }));
    assert_eq!(&*hp.device.i_on_n.source, "our test chip");
}

#[test]
fn files_that_extend_themselves_are_refused() {
    let mut load =
        |_: &str, written: &str| Ok((written.to_owned(), "extends = \"my.toml\"\n".to_owned()));
    let faults = OwnNode::read("my.toml", "extends = \"other.toml\"\n", &mut load).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(
        faults[0].message,
        "`my.toml` extends itself: my.toml -> other.toml -> my.toml"
    );
    let mut depth = 0;
    let mut endless = |_: &str, _: &str| {
        depth += 1;
        Ok((
            format!("{depth}.toml"),
            "extends = \"next.toml\"\n".to_owned(),
        ))
    };
    let faults = OwnNode::read("my.toml", "extends = \"next.toml\"\n", &mut endless).unwrap_err();
    assert!(
        faults[0].message.contains("more than 8 files"),
        "{faults:?}"
    );
}

#[test]
fn every_fault_is_reported_at_once_and_at_its_place() {
    let text = "extends = \"silicon:7nm\"\ncolour = 1\n\
        [[value]]\nname = \"hp.i_onn\"\nvalue = \"1 A/um\"\nsource = \"x\"\nhow = \"measured\"\nuncertainty = 0.1\n\
        [[value]]\nname = \"hp.vdd\"\nvalue = \"0.7 K\"\nsource = \"x\"\nhow = \"measured\"\nuncertainty = 0.1\n\
        [[value]]\nname = \"hp.alpha\"\nvalue = \"-3\"\nsource = \" \"\nhow = \"guessed\"\nuncertainty = 0\n\
        [[range]]\nflavour = \"hp\"\nvdd = [\"0.9 V\", \"0.5 V\"]\n";
    let faults = read(text).unwrap_err();
    let codes: Vec<&str> = faults.iter().map(|fault| fault.code).collect();
    assert_eq!(
        codes,
        [
            "tech::unknown_name",
            "tech::unknown_name",
            "tech::wrong_value",
            "tech::wrong_type",
            "tech::how",
            "tech::uncertainty",
            "tech::wrong_value",
            "tech::range"
        ]
    );
    assert!(faults[1].candidates.contains(&"hp.i_on_n".to_owned()));
    let wrong = &text[faults[2].range.clone()];
    assert_eq!(wrong, "\"0.7 K\"");
}

#[test]
fn a_node_that_makes_no_sense_as_a_whole_is_refused() {
    let barrier = "extends = \"silicon:7nm\"\n[[value]]\nname = \"conservative.local.barrier\"\nvalue = \"12 nm\"\nsource = \"x\"\nhow = \"measured\"\nuncertainty = 0.1\n";
    assert!(
        read(barrier).unwrap_err()[0]
            .message
            .contains("leaves no metal")
    );
    let supply = FASTER
        .replace("hp.i_on_n", "hp.vdd")
        .replace("0.8e-3 A/um", "1.1 V");
    assert!(
        read(&supply).unwrap_err()[0]
            .message
            .contains("must lie in its range")
    );
    assert!(read("extends = \"silicon:6nm\"\n").is_err());
    assert!(read("extends = \"tsmc:7nm\"\n").is_err());
    assert!(read("").is_err());
    assert!(read("extends = \"itrs:45nm\"\n").is_ok());
}

proptest::proptest! {
    #[test]
    fn hostile_text_is_refused_and_never_panics(text in "\\PC{0,200}") {
        let _ = read(&text);
        let _ = read(&format!("extends = \"silicon:7nm\"\n{text}"));
        let _ = read(&format!("extends = \"silicon:7nm\"\n[[value]]\nname = \"hp.vdd\"\nvalue = \"{text}\"\nsource = \"x\"\nhow = \"measured\"\nuncertainty = 1"));
    }
}

/// Every node that ships, extended by nothing.
#[test]
fn a_file_that_changes_nothing_is_the_node_in_every_value() {
    let mut compared = 0;
    for library in [Library::silicon().unwrap(), Library::itrs().unwrap()] {
        for node in library.nodes() {
            let base = format!("{}:{:.0}nm", library.name(), node.as_nm());
            let own = read(&format!("extends = \"{base}\"\n")).unwrap();
            assert!(own.overrides().is_empty() && own.ranges().next().is_none());
            for flavour in library.flavours(node).unwrap() {
                let ours = own.technology(flavour).unwrap();
                assert_eq!(&*ours.library, format!("my.toml ({base})"));
                let base = library.at(node, flavour).unwrap();
                let ours = Technology {
                    library: base.library.clone(),
                    ..ours
                };
                // Every value, its source and its uncertainty, to the last bit.
                assert_eq!(format!("{ours:?}"), format!("{base:?}"));
                compared += 1;
            }
        }
    }
    assert!(compared >= 70, "{compared}");
}
