import Configuration
import CounterfoilProtocol
import Foundation

/// The settings of a command, each with its value and its origin.
///
/// An option goes before the environment, and the environment before the file.
struct ResolvedSettings: Sendable {
    enum Origin: Sendable, Hashable {
        case option
        case environment
        case file(line: Int)
    }

    struct Value: Sendable, Hashable {
        /// The texts of the value: one, or those of a list.
        let texts: [String]
        let origin: Origin
    }

    /// The path of the settings file; nil without one.
    let path: String?
    /// The settings that are set, by name.
    let values: [String: Value]
    /// Whether these are all settings of a server.
    ///
    /// Options of other commands can have the same names and other ranges.
    let isOfServer: Bool
    /// The options for what the environment and the file set.
    let arguments: [String]

    init(
        _ settings: [Setting], options: CommandLineOptions, environment: [String: String], file: SettingsFile?
    ) throws(CommandFailure) {
        path = file?.path
        isOfServer = settings == Setting.all
        var values: [String: Value] = [:]
        let lookUp = try Self.lookUp(settings, environment: environment, file: file)
        for setting in settings {
            if options.contains(setting) {
                values[setting.name] = Value(texts: options.texts(of: setting), origin: .option)
            } else {
                values[setting.name] = lookUp(setting)
            }
        }
        try Self.settlePlace(&values, path: file?.path ?? "")
        self.values = values
        var arguments: [String] = []
        for setting in settings {
            guard let value = values[setting.name], value.origin != .option else { continue }
            // The option `--data-dir` reads its variables itself, with errors of their own.
            if value.origin == .environment, ["data-dir", "database"].contains(setting.name) { continue }
            arguments += try Self.arguments(for: setting, value, in: file)
        }
        self.arguments = arguments
    }

    /// Returns the function that looks up a setting in the environment and in the file.
    private static func lookUp(
        _ settings: [Setting], environment: [String: String], file: SettingsFile?
    ) throws(CommandFailure) -> (Setting) -> Value? {
        guard #available(macOS 15, *) else {
            guard file == nil, !settings.contains(where: { environment[$0.variable] != nil }) else {
                throw .refused("settings in a file or in the environment need macOS 15")
            }
            return { _ in nil }
        }
        let sources = SettingSources(settings, environment: environment, file: file)
        return { sources.value(of: $0) }
    }

    /// Drops the settings of a store that an option replaces by another store.
    ///
    /// - Throws: ``CommandFailure`` if the file and the environment name stores of different kinds. Neither is dropped
    ///   silently, because the server would start with an empty store.
    private static func settlePlace(_ values: inout [String: Value], path: String) throws(CommandFailure) {
        guard let directory = values["data-dir"], let database = values["database"] else {
            // The key in the file belongs to a database, and a directory that an option names has its own key.
            if let directory = values["data-dir"], values["server-key-file"].map({ $0.rank > directory.rank }) == true {
                values["server-key-file"] = nil
            }
            return
        }
        guard directory.rank != database.rank else { return }
        for (name, value, other) in [("data-dir", directory, database), ("database", database, directory)] {
            guard case .file(let line) = value.origin, other.origin == .environment else { continue }
            let variable = Setting.variable(of: name == "database" ? "data-dir" : "database")
            throw .refused(
                "\(path), line \(line): \(name) names a store, and \(variable) in the environment names another one; "
                    + "remove one of them")
        }
        if directory.rank < database.rank {
            values["database"] = nil
            if values["server-key-file"].map({ $0.rank > directory.rank }) == true { values["server-key-file"] = nil }
        } else {
            values["data-dir"] = nil
        }
    }

    private static func arguments(
        for setting: Setting, _ value: Value, in file: SettingsFile?
    ) throws(CommandFailure) -> [String] {
        guard case .flag(let negation) = setting.kind else {
            return value.texts.map { "--\(setting.name)=\($0)" }
        }
        switch value.texts.first {
        case "true": return ["--\(setting.name)"]
        case "false": return negation.map { ["--\($0)"] } ?? []
        default: throw .refused("\(setting.variable) must be true or false")
        }
    }
}

extension ResolvedSettings.Value {
    /// The rank of the origin; the lowest one wins.
    fileprivate var rank: Int {
        switch origin {
        case .option: 0
        case .environment: 1
        case .file: 2
        }
    }
}

extension CommandLineOptions {
    fileprivate func contains(_ setting: Setting) -> Bool {
        if case .flag(let negation?) = setting.kind, contains(negation) { return true }
        return contains(setting.name)
    }

    fileprivate func texts(of setting: Setting) -> [String] {
        guard case .flag = setting.kind else {
            return setting.kind == .list ? all(setting.name) : all(setting.name).suffix(1)
        }
        return [contains(setting.name) ? "true" : "false"]
    }
}

/// The environment and the settings file, in the order of their precedence.
///
/// The package swift-configuration requires macOS 15.
@available(macOS 15, *)
private struct SettingSources {
    private static let prefix = "counterfoil"

    private let reader: ConfigReader
    private let provenance: Provenance
    private let file: SettingsFile?

    init(_ settings: [Setting], environment: [String: String], file: SettingsFile?) {
        let variables = Set(settings.map(\.variable))
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, entry) in file?.entries ?? [:] {
            let content: ConfigContent =
                switch entry.value {
                case .one(let text): .string(text)
                case .many(let texts): .stringArray(texts)
                }
            values[AbsoluteConfigKey([Self.prefix, name])] = ConfigValue(content, isSecret: false)
        }
        provenance = Provenance()
        reader = ConfigReader(
            providers: [
                EnvironmentVariablesProvider(environmentVariables: environment.filter { variables.contains($0.key) }),
                InMemoryProvider(name: Provenance.file, values: values),
            ],
            accessReporter: provenance)
        self.file = file
    }

    /// Returns the value of a setting; nil if neither sets it.
    func value(of setting: Setting) -> ResolvedSettings.Value? {
        let key = ConfigKey([Self.prefix, setting.name])
        let texts = setting.kind == .list ? reader.stringArray(forKey: key) : reader.string(forKey: key).map { [$0] }
        guard let texts else { return nil }
        guard provenance.lastIsFile, let entry = file?.entries[setting.name] else {
            return ResolvedSettings.Value(texts: texts, origin: .environment)
        }
        return ResolvedSettings.Value(texts: texts, origin: .file(line: entry.line))
    }
}

/// The provider that had the last value.
@available(macOS 15, *)
private final class Provenance: AccessReporter {
    static let file = "settings file"

    private let last = Mutex("")

    var lastIsFile: Bool { last.withLock { $0.contains(Self.file) } }

    func report(_ event: AccessEvent) {
        let provider = event.providerResults.last { (try? $0.result.get().value) != nil }?.providerName ?? ""
        last.withLock { $0 = provider }
    }
}
