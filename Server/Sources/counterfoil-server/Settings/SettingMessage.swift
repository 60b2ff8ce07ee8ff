/// A message about settings, in which each setting has the name of the place that sets it: `--listen`,
/// `COUNTERFOIL_LISTEN`, or `listen` in the settings file.
///
/// A setting is a part of its own in it, so the values of an operator are never taken for the name of one.
struct SettingMessage: ExpressibleByStringInterpolation, Sendable {
    enum Part: Sendable, Hashable {
        case text(String)
        /// The name of a setting.
        case setting(String)
    }

    let parts: [Part]

    init(stringLiteral text: String) { parts = [.text(text)] }

    init(stringInterpolation interpolation: StringInterpolation) { parts = interpolation.parts }

    /// Creates a message that begins with a setting.
    init(_ setting: any AnySetting, _ words: String) { parts = [.setting(setting.name), .text(words)] }

    /// The names of the settings in the message, in their order.
    var settings: [String] {
        parts.compactMap { if case .setting(let name) = $0 { name } else { nil } }
    }

    /// Returns the message with a text for each setting.
    func text(_ name: (_ setting: String) -> String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .setting(let setting): name(setting)
            }
        }.joined()
    }

    /// The message in which each setting is an option.
    var ofOptions: String { text { "--\($0)" } }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { parts.append(.text(literal)) }

        mutating func appendInterpolation<Value>(_ setting: Setting<Value>) { parts.append(.setting(setting.name)) }

        mutating func appendInterpolation(_ message: SettingMessage) { parts += message.parts }

        mutating func appendInterpolation(_ value: some Any) { parts.append(.text("\(value)")) }
    }
}

/// A mistake in the settings, which no place names yet: ``SettingTexts/failure(_:)`` does.
struct SettingMistake: Error {
    let message: SettingMessage

    init(_ message: SettingMessage) { self.message = message }
}

/// Returns a message with the places that set the settings in it.
typealias SettingMessageRenderer = @Sendable (SettingMessage) -> String
