//! Chromium without a window, driven by its own protocol over a pipe: what a person would do, and what it says.

use base64::Engine as _;
use serde_json::{Value, json};
use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Set to any value to do without the tests that need a browser.
pub(crate) const SKIP: &str = "INTERLOPER_NO_CHROMIUM";

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page.
pub(crate) struct Chromium {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    next: u64,
    /// What the page complained about, and what it asked for.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Chromium {
    /// Starts it. None if it is not wanted.
    pub(crate) fn start() -> Option<Chromium> {
        if env::var_os(SKIP).is_some() {
            eprintln!("not opened in a browser: {SKIP} is set");
            return None;
        }
        let program = program();
        let profile = tempfile::tempdir().unwrap();
        // It reads from descriptor 3 and writes to 4; a shell puts our pipes there.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--force-device-scale-factor=1", "--force-prefers-reduced-motion"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (send, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                if send.send(serde_json::from_slice(&message).unwrap_or_default()).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut chromium =
            Chromium { process, input, messages, session: None, next: 0, events: Vec::new(), _profile: profile };
        let target = chromium.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached =
            chromium.call("Target.attachToTarget", &json!({ "targetId": target["targetId"], "flatten": true }));
        chromium.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            chromium.call(&format!("{domain}.enable"), &json!({}));
        }
        let clipboard = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        let session = chromium.session.take();
        chromium.call("Browser.grantPermissions", &clipboard);
        chromium.session = session;
        chromium.size(1400, 1000);
        Some(chromium)
    }

    /// Sends a command and returns its answer.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.input.write_all(&bytes).and_then(|()| self.input.flush()).expect("the browser runs");
        loop {
            let answer = self.receive(method);
            if answer["id"] == self.next {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    #[track_caller]
    fn receive(&mut self, what: &str) -> Value {
        let message = self.messages.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{what}: {error}"));
        if message.get("method").is_some() {
            self.events.push(message.clone());
        }
        message
    }

    /// Opens a file and waits until it is loaded.
    #[track_caller]
    pub(crate) fn open(&mut self, path: &Path) {
        self.events.clear();
        let url = format!("file://{}", path.canonicalize().unwrap().display());
        self.call("Page.navigate", &json!({ "url": url }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            self.receive("loading");
        }
    }

    /// What an expression is worth on the page.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true });
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Lets the page do what it has begun.
    #[track_caller]
    pub(crate) fn pause(&mut self) {
        self.eval("new Promise((done) => setTimeout(done, 150))");
    }

    /// The text of the first element that a selector finds.
    #[track_caller]
    pub(crate) fn text(&mut self, selector: &str) -> String {
        let text = self.eval(&format!("document.querySelector({selector:?}).innerText"));
        text.as_str().unwrap_or_else(|| panic!("{selector}: {text}")).trim().to_owned()
    }

    /// Clicks in the middle of an element, as a mouse does.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        let middle = self.eval(&format!(
            "(() => {{ const it = document.querySelector({selector:?}); it.scrollIntoView({{block: 'center'}}); \
             const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": middle[0], "y": middle[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Presses a key.
    #[track_caller]
    pub(crate) fn key(&mut self, key: &str) {
        let code = match key {
            "ArrowDown" => 40,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowLeft" => 37,
            "Home" => 36,
            "End" => 35,
            "Tab" => 9,
            letter => u32::from(letter.bytes().next().unwrap_or_default().to_ascii_uppercase()),
        };
        let mut event = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if key.len() == 1 {
            event["text"] = key.into();
        }
        self.call("Input.dispatchKeyEvent", &event);
        self.call("Input.dispatchKeyEvent", &json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }));
    }

    /// Light or dark.
    #[track_caller]
    pub(crate) fn scheme(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "media": "", "features": features }));
    }

    /// The size of the window.
    #[track_caller]
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the page complained about, and every address it asked for but itself.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut is_first = true;
        for event in &self.events {
            let parameters = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => complaints.push(parameters["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" => complaints.push(parameters["args"].to_string()),
                "Log.entryAdded" => complaints.push(parameters["entry"]["text"].to_string()),
                "Page.javascriptDialogOpening" => complaints.push(format!("a dialog: {parameters}")),
                "Network.requestWillBeSent" => {
                    let url = parameters["request"]["url"].as_str().unwrap_or_default();
                    if !url.starts_with("data:") && !std::mem::take(&mut is_first) {
                        complaints.push(format!("asks for {url}"));
                    }
                }
                _ => {}
            }
        }
        complaints
    }

    /// A picture of the page, put into the folder that `INTERLOPER_SCREENSHOTS` names, if it does.
    #[track_caller]
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = env::var_os("INTERLOPER_SCREENSHOTS") else { return };
        let shot = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(Path::new(&folder).join(name), bytes).unwrap();
    }

    /// What axe-core has against the page, in a line each.
    #[track_caller]
    pub(crate) fn obstacles(&mut self) -> Vec<String> {
        let axe = std::fs::read_to_string(axe()).unwrap();
        self.eval(&format!("{axe};0"));
        let found = self.eval(
            "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
             .then((found) => [found.passes.length, ...found.violations.map((one) => one.id + ': ' + one.help + ': ' +
                 one.nodes.slice(0, 3).map((node) => node.target + ' ' + node.failureSummary).join(' | '))])",
        );
        let mut found: Vec<Value> = found.as_array().unwrap().clone();
        let passed = found.remove(0).as_u64().unwrap();
        assert!(passed > 20, "only {passed} rules were looked at");
        found.iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Chromium, sought where `scripts/chromium.sh` seeks it.
fn program() -> PathBuf {
    if let Some(path) = env::var_os("INTERLOPER_CHROMIUM") {
        return PathBuf::from(path);
    }
    let runs = |name: &&str| {
        let version = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs);
    PathBuf::from(found.unwrap_or_else(|| {
        panic!("there is no Chromium: `make test` installs it (scripts/chromium.sh), or set {SKIP} to do without")
    }))
}

/// Where `scripts/chromium.sh` puts axe-core.
fn axe() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()));
    let path = env::var_os("INTERLOPER_AXE").map_or(target.join("tools/axe/axe.min.js"), PathBuf::from);
    assert!(path.exists(), "there is no axe-core: `make test` fetches it (scripts/chromium.sh), or set {SKIP}");
    path
}
