import NIOHTTP1

/// Keys that are not text (W3C WebDriver §17.4.2).
enum Key {
    static let tab = "\u{E004}"
    static let enter = "\u{E007}"
    static let escape = "\u{E00C}"
    static let space = " "
}

extension Browser {
    /// Presses and releases a key, wherever the focus is.
    func press(_ key: String) async throws {
        try await press([key])
    }

    /// Presses and releases keys one after the other, wherever the focus is.
    func press(_ keys: [String]) async throws {
        let strokes = keys.flatMap { key -> [JSONValue] in
            [["type": "keyDown", "value": .string(key)], ["type": "keyUp", "value": .string(key)]]
        }
        let keyboard: JSONValue = ["type": "key", "id": "keyboard", "actions": .array(strokes)]
        _ = try await session.send(.POST, "/actions", ["actions": [keyboard]])
    }

    /// Types text key by key, wherever the focus is.
    func write(_ text: String) async throws {
        try await press(text.map { $0 == "\n" ? Key.enter : String($0) })
    }

    /// The element that has the focus.
    func focused() async throws -> Element {
        try Element(try await session.send(.GET, "/element/active"), session: session)
    }

    /// Waits until the control of a name has the focus: a page gives it with its first frame, not when it has loaded.
    func waitForFocus(at name: String) async throws {
        try await waitFor("the focus at \(name)") { try await focused().attribute("name") == name }
    }

    /// Presses the tabulator until the focus is at the control that assistive technology calls so, and returns it.
    @discardableResult func tab(to name: String) async throws -> Element {
        try await tab("“\(name)”") { try await $0.accessibleName.hasPrefix(name) }
    }

    /// Presses the tabulator until the focus is at a control of which something holds, and returns it.
    @discardableResult func tab(
        _ what: String = "a control", until holds: (Element) async throws -> Bool
    ) async throws -> Element {
        for _ in 0..<80 {
            let element = try await focused()
            if try await holds(element) { return element }
            try await press(Key.tab)
        }
        throw WebDriverError.timedOut("the focus at \(what)")
    }
}
