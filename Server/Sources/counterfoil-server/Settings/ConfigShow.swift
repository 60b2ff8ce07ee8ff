import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The command `config show`, which prints each setting with its origin.
struct ConfigShow: ParsableCommand {
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

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let values = try options.configuration(environment).values
        let rows = Settings.all.map { Row($0, in: values.texts) } + [Row.serverKey(environment)]
        if json { return try Output.json(rows) }
        let width = rows.map(\.name.count).max() ?? 0
        for row in rows {
            let name = row.name.padding(toLength: width, withPad: " ", startingAt: 0)
            Output.line("\(name)  \(row.shownValue)  [\(row.shownOrigin)]")
        }
    }

    /// A setting with its value and origin, as JSON.
    private struct Row: Encodable {
        enum Origin: String, Encodable {
            case option, environment, file
            case standard = "default"
            case credentials
        }

        enum Value: Encodable {
            case one(String)
            case many([String])

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .one(let text): try container.encode(text)
                case .many(let texts): try container.encode(texts)
                }
            }
        }

        let name: String
        /// Nil if the setting has no value.
        var value: Value?
        let origin: Origin
        /// The environment variable of the setting, if that is the origin.
        var variable: String?
        var file: String?
        var line: Int?

        init(_ setting: any AnySetting, in settings: SettingTexts) {
            name = setting.name
            let given = settings.values[setting.name]
            let texts = given?.texts ?? setting.standardTexts
            value = setting.kind == .list ? .many(texts) : texts.first.map { .one($0) }
            switch given?.origin {
            case nil: origin = .standard
            case .option: origin = .option
            case .environment:
                origin = .environment
                variable = setting.variable
            case .file(let line):
                origin = .file
                file = settings.path
                self.line = line
            }
        }

        private init(name: String, value: Value?, origin: Origin) {
            self.name = name
            self.value = value
            self.origin = origin
        }

        /// The server key, of which only the origin is shown.
        static func serverKey(_ environment: [String: String]) -> Row {
            if environment[ServerKey.variable] != nil {
                var row = Row(name: "server-key", value: .one("(set)"), origin: .environment)
                row.variable = ServerKey.variable
                return row
            }
            guard let file = ServerKeyFile.credential(environment) else {
                return Row(name: "server-key", value: nil, origin: .standard)
            }
            var row = Row(name: "server-key", value: .one("(set)"), origin: .credentials)
            row.file = file.path
            return row
        }

        var shownValue: String {
            let text =
                switch value {
                case nil: "(not set)"
                case .one(let text): text
                case .many(let texts): texts.isEmpty ? "(none)" : texts.joined(separator: ", ")
                }
            return String(
                text.map { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } ? $0 : "?" })
        }

        var shownOrigin: String {
            switch origin {
            case .option: "--\(name)"
            case .environment: variable ?? "environment"
            case .file: "\(file ?? "file"), line \(line ?? 0)"
            case .standard: "default"
            case .credentials: file ?? "credentials"
            }
        }
    }
}
