import ArgumentParser
import Foundation

/// The command line and the environment with which this process was started.
///
/// They do not change. The settings file can be read again at any time.
struct CommandInvocation: Sendable {
    /// The words that name the command, such as `user list`.
    let command: [String]
    /// The arguments after them.
    let options: [String]
    let environment: [String: String]
    /// The settings that the command has as options.
    let settings: [Setting]
    /// The first argument after a group of commands that is neither a subcommand nor an option; nil if there is none.
    private let unknownSubcommand: String?

    /// The environment variable that names the settings file.
    ///
    /// `COUNTERFOIL_CONFIG` is the configuration file of the program `counterfoil`.
    static let variable = "COUNTERFOIL_SERVER_CONFIG"

    /// The settings file of the packages, and the user that they create.
    static let packaged = (path: "/etc/counterfoil/server.yaml", user: "counterfoil")

    /// The settings file of commands that name none; nil for every user but that of the packages.
    private let standardPath: String?

    init(
        _ arguments: [String], environment: [String: String], user: String = NSUserName(),
        packagedPath: String = packaged.path
    ) {
        self.environment = environment
        standardPath =
            user == Self.packaged.user && FileManager.default.fileExists(atPath: packagedPath) ? packagedPath : nil
        var type: any ParsableCommand.Type = CounterfoilServerCommand.self
        var words: [String] = []
        for word in arguments {
            guard let next = Self.subcommand(word, of: type) else { break }
            words.append(word)
            type = next
        }
        let next = arguments.dropFirst(words.count).first.flatMap { $0.hasPrefix("-") ? nil : $0 }
        let isGroup = !type.configuration.subcommands.isEmpty && type.configuration.defaultSubcommand == nil
        // `help` is a subcommand of ArgumentParser.
        unknownSubcommand = isGroup && !(words.isEmpty && next == "help") ? next : nil
        // The first subcommand of a group can be its default, which has no word.
        if let standard = type.configuration.defaultSubcommand { type = standard }
        command = words
        options = Array(arguments.dropFirst(words.count))
        settings = Self.settings(of: type)
    }

    private static func subcommand(
        _ word: String, of type: any ParsableCommand.Type
    ) -> (any ParsableCommand.Type)? {
        type.configuration.subcommands.first { $0._commandName == word || $0.configuration.aliases.contains(word) }
    }

    private static func settings(of type: any ParsableCommand.Type) -> [Setting] {
        switch type {
        case is ServeCommand.Type, is ConfigCheck.Type, is ConfigShow.Type: Setting.all
        // Other options of administration commands can have the name of a setting and another meaning.
        default: settings(of: Setting.optionNames(of: type))
        }
    }

    private static func settings(of options: Set<String>) -> [Setting] {
        guard options.contains("config") else { return [] }
        return Setting.all.filter { Setting.places.contains($0.name) && options.contains($0.name) }
    }

    /// Whether the command only prints its help.
    private var asksForHelp: Bool {
        options.contains { ["-h", "--help", "--version", "--experimental-dump-help"].contains($0) }
    }

    /// The path of the settings file; nil if none is named, and none is the standard one of this user.
    var path: String? {
        get throws(CommandFailure) {
            guard !settings.isEmpty, !asksForHelp else { return nil }
            if let path = CommandLineOptions(options).last("config") { return path }
            guard let path = environment[Self.variable] else { return standardPath }
            guard !path.isEmpty else {
                throw .refused("\(Self.variable) cannot be empty; unset it, or name a settings file")
            }
            return path
        }
    }

    /// Reads the settings file and the environment, and adds the settings to the command line.
    func resolve() throws(CommandFailure) -> ResolvedSettings {
        let file: SettingsFile? = if let path = try path { try SettingsFile(at: path) } else { nil }
        let given = asksForHelp ? [] : settings
        if given == Setting.all { try refuseVariablesOfAdministration() }
        let resolved = try ResolvedSettings(
            given, options: CommandLineOptions(options), environment: environment, file: file)
        if given == Setting.all { try requireAll(in: resolved) }
        return resolved
    }

    /// Throws if a setting is missing or empty without which the server does not start.
    ///
    /// Without a file, `serve` itself says which one is missing.
    private func requireAll(in resolved: ResolvedSettings) throws(CommandFailure) {
        for setting in Setting.all where setting.isRequired {
            let path = resolved.path
            guard let value = resolved.values[setting.name] else {
                guard path != nil || command.first == "config" else { continue }
                throw .refused(
                    path.map { "\($0): the setting \(setting.name) is missing" }
                        ?? "the setting \(setting.name) is missing; name the settings file with --config")
            }
            guard value.texts.isEmpty else { continue }
            switch value.origin {
            // The parser of the command line refuses an option without a value.
            case .option: continue
            case .environment: throw .refused("\(setting.variable) is empty; it must have at least one value")
            case .file(let line):
                throw .refused(
                    "\(path ?? ""), line \(line): \(setting.name) is an empty list; it must have at least one value")
            }
        }
    }

    /// Throws if a variable has the name of a value at `/admin`, which would have no effect.
    private func refuseVariablesOfAdministration() throws(CommandFailure) {
        for (name, place) in Setting.atAdministration {
            let variable = Setting.variable(of: name)
            if environment[variable] != nil { throw .refused("\(variable) is no setting; set it at \(place)") }
        }
    }

    /// Parses the command with its settings.
    ///
    /// After an unknown subcommand there are none: the parser would report the first option as unknown, and not the
    /// subcommand.
    func command(with resolved: ResolvedSettings) throws -> any ParsableCommand {
        if let unknownSubcommand, !asksForHelp {
            return try CounterfoilServerCommand.parseAsRoot(command + [unknownSubcommand])
        }
        return try CounterfoilServerCommand.parseAsRoot(command + resolved.arguments + options)
    }
}

/// The options in the arguments of a command, of which only the names and values are known.
struct CommandLineOptions: Sendable {
    /// The values of each option, in their order; a flag has none.
    private let values: [String: [String]]

    init(_ arguments: [String]) {
        var values: [String: [String]] = [:]
        var name: String?
        for argument in arguments {
            if argument == "--" { break }
            if argument.hasPrefix("--") {
                let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let option = String(parts[0])
                values[option, default: []] += parts.dropFirst().map(String.init)
                name = parts.count == 1 ? option : nil
            } else if let option = name {
                values[option]?.append(argument)
                name = nil
            }
        }
        self.values = values
    }

    func contains(_ option: String) -> Bool { values[option] != nil }

    func all(_ option: String) -> [String] { values[option] ?? [] }

    func last(_ option: String) -> String? { values[option]?.last }
}

/// The settings of a command, and how they were given.
struct SettingsContext: Sendable {
    let invocation: CommandInvocation
    let settings: ResolvedSettings
}

/// A command that runs with its settings, because it shows them or reads them again.
protocol ConfiguredCommand: AsyncParsableCommand {
    func run(with context: SettingsContext) async throws
}
