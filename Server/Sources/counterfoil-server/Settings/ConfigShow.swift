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
        let texts = values.texts
        let settings = Settings.all.map { ReportedSetting($0, texts.values[$0.name], path: texts.path) }
        let rows = (settings + [ReportedSetting(serverKeyIn: environment)]).map { SettingDocument($0) }
        if json { return try Output.json(rows) }
        let width = rows.map(\.name.count).max() ?? 0
        for row in rows {
            let name = row.name.padding(toLength: width, withPad: " ", startingAt: 0)
            Output.line("\(name)  \(row.shownValue)  [\(row.shownOrigin)]")
        }
    }
}

extension SettingDocument {
    fileprivate var shownValue: String {
        let text =
            switch value {
            case nil: "(not set)"
            case .one(let text): text
            case .many(let texts): texts.isEmpty ? "(none)" : texts.joined(separator: ", ")
            }
        return String(
            text.map { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } ? $0 : "?" })
    }

    fileprivate var shownOrigin: String {
        switch origin {
        case .option: "--\(name)"
        case .environment: variable ?? "environment"
        case .file: "\(file ?? "file"), line \(line ?? 0)"
        case .standard: "default"
        case .credentials: file ?? "credentials"
        }
    }
}
