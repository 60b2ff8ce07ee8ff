import ArgumentParser
import CounterfoilServer
import Foundation

/// A setting of the server: an option of `serve`, which the environment and the settings file can set, too.
///
/// It is the only place of its name, form, default and explanation. The option, the variable, the JSON Schema and the
/// example file come from it.
struct Setting<Value: Sendable>: AnySetting {
    let name: String
    let form: SettingForm<Value>
    /// The value that counts if no place sets the setting.
    let standard: Value
    let explanation: String
    let valueName: String
    let example: String?
    let isRequired: Bool
    let isLive: Bool
    let administration: String?
    let shared: (@Sendable (ServerSettings) -> String)?
    private let use: (@Sendable (Value, inout ServerSettings) -> Void)?

    /// Creates a setting.
    ///
    /// - Parameters:
    ///   - name: The name of the option without dashes, which is the key in the settings file.
    ///   - form: The form of a value.
    ///   - standard: The value that counts if no place sets the setting.
    ///   - valueName: The name of the value in help texts.
    ///   - example: A value for the example file; nil if the default is one.
    ///   - isRequired: Whether the server does not start without the setting.
    ///   - isLive: Whether the server applies a change on SIGHUP; otherwise a change needs a restart.
    ///   - administration: The place at `/admin` of a value that the environment and the settings file cannot set.
    ///   - shared: The text of the setting that all servers on one database must have alike; nil if they can differ.
    ///   - explanation: The help text, without the default.
    ///   - use: The function that puts a value into the settings of the protocol; nil if it belongs to something else.
    init(
        _ name: String, _ form: SettingForm<Value>, default standard: Value, value valueName: String = "",
        example: String? = nil, isRequired: Bool = false, isLive: Bool = false, administration: String? = nil,
        shared: (@Sendable (ServerSettings) -> String)? = nil, _ explanation: String,
        use: (@Sendable (Value, inout ServerSettings) -> Void)? = nil
    ) {
        self.name = name
        self.form = form
        self.standard = standard
        self.explanation = explanation
        self.valueName = valueName
        self.example = example
        self.isRequired = isRequired
        self.isLive = isLive
        self.administration = administration
        self.shared = shared
        self.use = use
    }

    /// Creates a setting that is a property of the settings of the protocol: all servers on one database must have it
    /// alike, and the server applies a change on SIGHUP.
    init(
        _ name: String, _ form: SettingForm<Value>, default standard: Value,
        to property: any WritableKeyPath<ServerSettings, Value> & Sendable, value valueName: String = "",
        _ explanation: String
    ) {
        self.init(
            name, form, default: standard, value: valueName, isLive: true,
            shared: { form.texts($0[keyPath: property]).joined(separator: " ") }, explanation,
            use: { $1[keyPath: property] = $0 })
    }

    /// Creates a setting that can be missing.
    init<Wrapped>(
        _ name: String, _ form: SettingForm<Wrapped>, value valueName: String = "", example: String? = nil,
        isRequired: Bool = false, isLive: Bool = false, administration: String? = nil,
        shared: (@Sendable (ServerSettings) -> String)? = nil, _ explanation: String,
        use: (@Sendable (Value, inout ServerSettings) -> Void)? = nil
    ) where Value == Wrapped? {
        self.init(
            name, form.orNone(), default: nil, value: valueName, example: example, isRequired: isRequired,
            isLive: isLive, administration: administration, shared: shared, explanation, use: use)
    }

    var kind: SettingKind { form.kind }

    var choices: [String] { form.choices }

    var schema: SettingSchema { form.schema }

    var standardTexts: [String] { form.texts(standard) }

    func value(of texts: [String]) throws(SettingRefusal) -> any Sendable { try form.read(texts) }

    func apply(_ values: SettingValues, to settings: inout ServerSettings) { use?(values[self], &settings) }
}

/// A setting with a value of any type.
protocol AnySetting: Sendable {
    /// The name of the option without dashes, which is the key in the settings file.
    var name: String { get }
    /// The name of the value in help texts; empty for a flag.
    var valueName: String { get }
    var kind: SettingKind { get }
    /// The only possible values; empty if there are others.
    var choices: [String] { get }
    /// The help text, without the default.
    var explanation: String { get }
    /// The texts of the default; empty if there is none.
    var standardTexts: [String] { get }
    /// A value for the example file; nil if the default is one.
    var example: String? { get }
    var schema: SettingSchema { get }
    /// Whether the server does not start without the setting.
    var isRequired: Bool { get }
    /// Whether the server applies a change on SIGHUP; otherwise a change needs a restart.
    var isLive: Bool { get }
    /// The place at `/admin` of a value that the environment and the settings file cannot set; nil for others.
    var administration: String? { get }
    /// The text that all servers on one database must have alike; nil if they can differ.
    var shared: (@Sendable (ServerSettings) -> String)? { get }

    /// Reads the texts of a place; the result has the type of the setting.
    func value(of texts: [String]) throws(SettingRefusal) -> any Sendable

    /// Puts the value into the settings of the protocol, if it belongs there.
    func apply(_ values: SettingValues, to settings: inout ServerSettings)
}

extension AnySetting {
    /// The name of the environment variable.
    var variable: String { Settings.variable(of: name) }

    /// The help of the option, with the values and the default in the form of ArgumentParser.
    var help: ArgumentHelp {
        var notes: [String] = []
        if !choices.isEmpty { notes.append("values: \(choices.joined(separator: ", "))") }
        if kind == .value, let standard = standardTexts.first { notes.append("default: \(standard)") }
        let shown = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
        return ArgumentHelp("\(explanation)\(shown)", valueName: valueName)
    }
}

/// The settings of the server; each group of options declares its own (``SettingGroup``).
enum Settings {
    /// The options of `serve`, in the order of its help.
    static let options: [any AnySetting] = ServeOptions.groups.flatMap(\.settings)

    /// The settings: the options that the environment and the settings file can set, too.
    static let all: [any AnySetting] = options.filter { $0.administration == nil }

    /// The options by their names.
    static let named: [String: any AnySetting] = Dictionary(
        options.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the name of the environment variable of a setting.
    static func variable(of name: String) -> String {
        "COUNTERFOIL_" + name.uppercased().replacingOccurrences(of: "-", with: "_")
    }
}
