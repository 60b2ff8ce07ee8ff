import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The command `config show`, which prints each setting with its origin.
struct ConfigShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show each setting, and the place that sets it.",
        discussion: """
            The command validates the settings first. It accepts every option of serve. The server key is shown as \
            (set) or (not set).

            Example:
              counterfoil-server config show --config /etc/counterfoil/server.yaml
            """
    )

    @OptionGroup(visibility: .hidden) var options: ServeOptions

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    func validate() throws { try remote.refuse(options) }

    func run() async throws {
        guard !remote.isGiven else {
            return try await remote.withTransport(on: options.location, creating: false) { server in
                try print(try await server.items(of: "/settings"))
            }
        }
        let environment = ProcessInfo.processInfo.environment
        let texts = try options.configuration(environment).values.texts
        let groups = [ReportedSettings](environment) { setting in
            ReportedSetting(setting, texts.values[setting.name], path: texts.path)
        }
        try print(try groups.flatMap(\.settings).map { try AdministrationRecord(of: SettingDocument($0)) })
    }

    private func print(_ settings: [AdministrationRecord]) throws {
        if json { return try Output.json(settings) }
        let names = settings.map { Self.visible($0.text("name") ?? "") }
        let width = names.map(\.count).max() ?? 0
        for (setting, name) in zip(settings, names) {
            let shown = name.padding(toLength: width, withPad: " ", startingAt: 0)
            let waits = setting.flag("waits_for_restart") ? "; the file has another value from the next restart" : ""
            Output.line("\(shown)  \(Self.value(of: setting))  [\(Self.origin(of: setting))\(waits)]")
        }
    }

    private static func value(of setting: AdministrationRecord) -> String {
        switch setting.members["value"] {
        case .string(let text)?: visible(text)
        case .array?:
            setting.texts("value").isEmpty ? "(none)" : visible(setting.texts("value").joined(separator: ", "))
        default: "(not set)"
        }
    }

    private static func origin(of setting: AdministrationRecord) -> String {
        let file = setting.text("file").map(visible)
        return switch setting.text("origin") {
        case "option": "--\(visible(setting.text("name") ?? ""))"
        case "environment": setting.text("variable").map(visible) ?? "environment"
        case "file": "\(file ?? "file"), line \(setting.integer("line") ?? 0)"
        case "credentials": file ?? "credentials"
        default: "default"
        }
    }

    private static func visible(_ text: String) -> String {
        String(VisibleText(of: text.unicodeScalars.prefix(4000)).scalars)
    }
}
