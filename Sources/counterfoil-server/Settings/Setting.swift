import ArgumentParser
import Foundation

/// An option of `serve`, which the settings file and the environment can set, too.
///
/// The options of `serve` are the only list of settings: a new option is a setting without another line.
struct Setting: Sendable, Hashable {
    /// The form of a value.
    enum Kind: Sendable, Hashable {
        /// True or false. A flag that is false can have an option of its own, such as `no-NAME`.
        case flag(negation: String?)
        case value
        case list
    }

    /// The name of the option without dashes, which is the key in the settings file.
    let name: String
    let kind: Kind
    /// The name of the value in help texts.
    let valueName: String
    /// The default as text; nil if there is none, or if the description tells it.
    let defaultValue: String?
    /// The only possible values; empty if there are others.
    let choices: [String]
    let description: String
    /// The title of the group in the help of `serve`.
    let section: String
    let isNumber: Bool
    /// Whether the server does not start without the setting.
    let isRequired: Bool

    /// The name of the environment variable.
    var variable: String { Self.variable(of: name) }

    static func variable(of name: String) -> String {
        "COUNTERFOIL_" + name.uppercased().replacingOccurrences(of: "-", with: "_")
    }

    /// Whether the server applies a change on SIGHUP; otherwise a change needs a restart.
    var isLive: Bool { Self.live.contains(name) }

    /// The settings of `serve`, in the order of its options.
    static let all: [Setting] = options(of: ServeCommand.self)

    static let named = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// The settings that name the store, which administration commands read, too.
    static let places = ["data-dir", "database", "server-key-file"]

    /// The options of `serve` that are values at `/admin`, with their place; the file and the environment cannot set
    /// them.
    static let atAdministration = [
        "site-name": "/admin/branding, or with counterfoil-server branding edit --name",
        "unregistered-clients": "/admin/unregistered, or with counterfoil-server unregistered edit",
    ]

    /// The options that are no settings.
    private static let excluded = Set(atAdministration.keys).union(["config", "help", "version"])

    private static let live: Set<String> = [
        "access-token-lifetime", "applications-per-developer", "approvals-per-user", "audit-retention", "code-lifetime",
        "connections", "cors-header", "default-audience", "device-code-lifetime", "failures-per-person",
        "failures-per-source",
        "hsts-max-age", "id-token-lifetime", "key-lifetime", "log-level", "no-development-redirect-uris",
        "lowercase-token-type",
        "page-lifetime", "plain-scheme", "pushed-request-lifetime", "recent-sign-in", "refresh-idle-lifetime",
        "refresh-lifetime", "registration", "registrations-per-hour", "registrations-per-source", "require-dpop-nonce",
        "require-pushed-requests", "session-idle-lifetime", "session-lifetime", "sign-in-delay-from", "sign-in-window",
        "tls-certificate", "tls-key", "trusted-proxy",
    ]

    /// The long names of the options of a command.
    static func optionNames(of command: any ParsableCommand.Type) -> Set<String> {
        Set(ToolDescription(of: command).options.compactMap(\.name))
    }

    /// Reads the options of a command from the description that ArgumentParser makes for tools.
    private static func options(of command: any ParsableCommand.Type) -> [Setting] {
        let arguments = ToolDescription(of: command).options
        let names = Set(arguments.compactMap(\.name))
        var numbers = OptionTypes.areNumbers(in: command)[...]
        return arguments.compactMap { argument in
            let isNumber = argument.kind == "option" && numbers.popFirst() == true
            guard let name = argument.name, !excluded.contains(name) else { return nil }
            // The negation of a flag is no setting of its own.
            if argument.kind == "flag", name.hasPrefix("no-"), names.contains(String(name.dropFirst(3))) { return nil }
            let kind: Kind =
                switch argument.kind {
                case "flag": .flag(negation: names.contains("no-\(name)") ? "no-\(name)" : nil)
                default: argument.isRepeating ? .list : .value
                }
            return Setting(
                name: name, kind: kind, valueName: argument.valueName ?? name, defaultValue: argument.defaultValue,
                choices: argument.allValues ?? [], description: argument.abstract ?? "",
                section: argument.sectionTitle ?? "Server", isNumber: isNumber, isRequired: !argument.isOptional)
        }
    }
}

/// The part of the description of a command in which the options are.
private struct ToolDescription: Decodable {
    struct Command: Decodable {
        let arguments: [Argument]?
    }

    struct Name: Decodable {
        let kind: String
        let name: String
    }

    struct Argument: Decodable {
        let kind: String
        let isRepeating: Bool
        let isOptional: Bool
        let sectionTitle: String?
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let allValues: [String]?
        let abstract: String?

        /// The long name.
        var name: String? { names?.first { $0.kind == "long" }?.name }
    }

    let command: Command?

    init(of command: any ParsableCommand.Type) {
        let text = Data(command._dumpHelp().utf8)
        self = (try? JSONDecoder().decode(Self.self, from: text)) ?? Self(command: nil)
    }

    private init(command: Command?) { self.command = command }

    var options: [Argument] { command?.arguments?.filter { $0.kind != "positional" } ?? [] }
}

/// The types of the options of a command, which its description does not contain.
private enum OptionTypes {
    /// Tells for each option, in the order of the description, whether it is a whole number.
    static func areNumbers(in type: any ParsableArguments.Type) -> [Bool] {
        Mirror(reflecting: type.init()).children.flatMap { child in
            switch child.value {
            case let option as any DeclaredOption: [option.isNumber]
            case let group as any DeclaredGroup: areNumbers(in: group.type)
            default: [Bool]()
            }
        }
    }
}

private protocol DeclaredOption {
    var isNumber: Bool { get }
}

private protocol DeclaredGroup {
    var type: any ParsableArguments.Type { get }
}

extension Option: DeclaredOption {
    var isNumber: Bool { Value.self == Int.self || Value.self == Int?.self }
}

extension OptionGroup: DeclaredGroup {
    var type: any ParsableArguments.Type { Value.self }
}
