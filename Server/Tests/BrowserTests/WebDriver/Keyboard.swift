import NIOHTTP1

/// Keys without text (W3C WebDriver §17.4.2).
enum Key {
    static let tab = "\u{E004}"
    static let enter = "\u{E007}"
    static let escape = "\u{E00C}"
    static let space = " "
}

extension Browser {
    /// Presses and releases a key in the focused element.
    func press(_ key: String) async throws {
        try await press([key])
    }

    /// Presses and releases keys one after the other in the focused element.
    func press(_ keys: [String]) async throws {
        let strokes = keys.flatMap { key -> [JSONValue] in
            [["type": "keyDown", "value": .string(key)], ["type": "keyUp", "value": .string(key)]]
        }
        let keyboard: JSONValue = ["type": "key", "id": "keyboard", "actions": .array(strokes)]
        _ = try await session.send(.POST, "/actions", ["actions": [keyboard]])
    }

    /// Types text key by key in the focused element.
    func write(_ text: String) async throws {
        try await press(text.map { $0 == "\n" ? Key.enter : String($0) })
    }

    /// Returns the focused element.
    func focused() async throws -> Element {
        try Element(try await session.send(.GET, "/element/active"), session: session)
    }

    /// Waits until a control has the focus, which a page sets with its first frame and not when it has
    /// loaded.
    func waitForFocus(at name: String) async throws {
        try await waitFor("the focus at \(name)") { try await focused().attribute("name") == name }
    }

    /// Presses Tab until the control with this accessible name has the focus, and returns it.
    @discardableResult func tab(to name: String) async throws -> Element {
        try await tab("“\(name)”") { try await $0.accessibleName.hasPrefix(name) }
    }

    /// Presses Tab until a control that satisfies a condition has the focus, and returns it.
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
