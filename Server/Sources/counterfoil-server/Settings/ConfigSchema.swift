import ArgumentParser
import Foundation

/// The command `config schema`, which prints a JSON Schema of the settings file.
struct ConfigSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print a JSON Schema (draft 2020-12) of the settings file.",
        discussion: """
            Editors use it to complete and check the file. The server itself accepts a value in quotes, too. The schema \
            is the same for every file, so --config is accepted and the file is not read.

            Example:
              counterfoil-server config schema > server.schema.json
            """
    )

    // Accepted as by every command, and not read.
    @Option(SettingsFileOption.hidden) var settingsFile: String?

    func run() throws {
        let data = try JSONSerialization.data(
            withJSONObject: Self.schema, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        Output.line(String(decoding: data, as: UTF8.self))
    }

    private static var schema: [String: Any] {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Settings of counterfoil-server",
            "type": ["object", "null"],
            "additionalProperties": false,
            "properties": Dictionary(uniqueKeysWithValues: Settings.all.map { ($0.name, property($0)) }),
        ]
    }

    private static func property(_ setting: any AnySetting) -> [String: Any] {
        var property = setting.schema.object
        property["description"] = setting.explanation
        let standard = setting.standardTexts
        switch setting.kind {
        case .flag: property["default"] = standard == ["true"]
        case .list: property["default"] = standard
        case .value: property["default"] = standard.first.map { Int($0) as Any? ?? $0 }
        }
        return property
    }
}
