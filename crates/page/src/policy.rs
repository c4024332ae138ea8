//! Style, script, and the policy that lets these run and nothing else.
//!
//! The policy names the two by their hashes, and allows no source to load anything from: not from the network, not
//! from the disk. A name in a trace that got to be markup, against everything else that is done about it, could
//! still neither run nor load anything.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("../assets/page.css");

/// The parts of the script, in the order in which they are put together.
const SCRIPTS: [&str; 9] = [
    include_str!("../assets/dom.js"),
    include_str!("../assets/data.js"),
    include_str!("../assets/order.js"),
    include_str!("../assets/memory.js"),
    include_str!("../assets/lanes.js"),
    include_str!("../assets/panes.js"),
    include_str!("../assets/stage.js"),
    include_str!("../assets/list.js"),
    include_str!("../assets/main.js"),
];

/// The script: its parts in one function, so that they share names with each other and with nobody else.
pub(crate) fn script() -> String {
    format!("(() => {{\n\"use strict\";\n{}\n}})();\n", SCRIPTS.join("\n"))
}

/// The content-security policy for this style and script.
pub(crate) fn policy(style: &str, script: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        source(script),
        source(style),
    )
}

fn source(content: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(content.as_bytes())))
}
