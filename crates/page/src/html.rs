//! Markup: written by us as it stands, and text that can never become markup.

use std::fmt::Write as _;

/// HTML that grows.
#[derive(Debug, Default)]
pub(crate) struct Html(String);

impl Html {
    /// Markup of ours.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text, which means nothing but itself.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        push_escaped(&mut self.0, text);
        self
    }

    /// A number.
    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        let _ = write!(self.0, "{number}");
        self
    }

    /// Begins an element with these attributes.
    pub(crate) fn open(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) -> &mut Self {
        let _ = write!(self.0, "<{tag}");
        for (name, value) in attributes {
            let _ = write!(self.0, " {name}=\"");
            push_escaped(&mut self.0, value);
            self.0.push('"');
        }
        self.0.push('>');
        self
    }

    /// Ends an element.
    pub(crate) fn close(&mut self, tag: &'static str) -> &mut Self {
        let _ = write!(self.0, "</{tag}>");
        self
    }

    /// An element that holds text.
    pub(crate) fn element(&mut self, tag: &'static str, class: &str, text: &str) -> &mut Self {
        let attributes: &[(&'static str, &str)] = if class.is_empty() { &[] } else { &[("class", class)] };
        self.open(tag, attributes).text(text).close(tag)
    }

    /// An element with a name of the input: short, and whole as a tooltip if that is more.
    pub(crate) fn name(&mut self, tag: &'static str, class: &str, name: &str) -> &mut Self {
        let whole = crate::text::name(name);
        let short = crate::text::short(&whole);
        if short == whole {
            self.element(tag, class, &whole)
        } else {
            self.open(tag, &[("class", class), ("title", &whole)]).text(&short).close(tag)
        }
    }

    /// What cannot be written by the others: our own style and script, and JSON that is escaped already.
    pub(crate) fn embedded(&mut self, tag: &'static str, attributes: &[(&'static str, &str)], content: &str) {
        self.open(tag, attributes);
        self.0.push_str(content);
        self.close(tag);
    }

    /// What was written.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[test]
    fn text_stays_text() {
        let mut html = Html::default();
        html.open("a", &[("title", "\"><script>alert('1')")]).text("</a>&amp;").close("a");
        assert_eq!(html.finish(), "<a title=\"&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)\">&lt;/a&gt;&amp;amp;</a>");
    }
}
