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
    @OptionGroup(visibility: .hidden) var settingsFile: SettingsFileOption

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
            "properties": Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.name, property($0)) }),
        ]
    }

    private static func property(_ setting: Setting) -> [String: Any] {
        var property: [String: Any] = ["description": setting.description]
        switch setting.kind {
        case .flag:
            property["type"] = "boolean"
            property["default"] = false
        case .list:
            property["anyOf"] = [
                ["type": "array", "items": ["type": ["string", "number"]]], ["type": ["string", "number"]],
            ]
            property["default"] = [String]()
        case .value where setting.isNumber:
            property["type"] = "integer"
            if let number = setting.defaultValue.flatMap(Int.init) { property["default"] = number }
        case .value where !setting.choices.isEmpty:
            property["enum"] = setting.choices
            if let text = setting.defaultValue { property["default"] = text }
        case .value:
            property["type"] = ["string", "integer"]
            if let text = setting.defaultValue { property["default"] = Int(text) as Any? ?? text }
        }
        return property
    }
}
