//! Colour, where it is wanted.

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// What happened, or can.
    Bad,
    /// What is not known, or only predicted.
    Doubtful,
    /// What begins a paragraph.
    Label,
    /// What points at something.
    Mark,
    /// What is there to be found again, not to be read.
    Faint,
}

/// Whether there is colour. Without it, text is the same but for the escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) colour: bool,
}

impl Style {
    pub(super) fn paint(self, role: Role, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match role {
            Role::Bad => "1;31",
            Role::Doubtful => "1;33",
            Role::Label => "1",
            Role::Mark => "31",
            Role::Faint => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
