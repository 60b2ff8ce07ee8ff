/// A setting in use with its origin, in answers of the administration API and in the output of commands.
package struct SettingDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, value, origin, variable, file, line
        case waitsForRestart = "waits_for_restart"
    }

    private enum Origin: String, Sendable, Encodable {
        case option, environment, file
        case standard = "default"
        case credentials
    }

    private enum Value: Sendable, Encodable {
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

    private let name: String
    /// The value; nil if the setting has none, and `(set)` for a secret.
    private let value: Value?
    private let origin: Origin
    /// The environment variable of the setting; nil if another place sets it.
    private var variable: String?
    /// The file that sets the setting; nil if another place sets it.
    private var file: String?
    private var line: Int?
    /// True if the settings file has another value, which counts from the next restart; nil otherwise.
    private let waitsForRestart: Bool?

    package init(_ setting: ReportedSetting) {
        name = setting.name
        value =
            switch setting.value {
            case .missing: nil
            case .one(let text): .one(text)
            case .many(let texts): .many(texts)
            case .secret: .one("(set)")
            }
        waitsForRestart = setting.waitsForRestart ? true : nil
        switch setting.origin {
        case .option: origin = .option
        case .standard: origin = .standard
        case .variable(let name): (origin, variable) = (.environment, name)
        case .file(let path, let line): (origin, file, self.line) = (.file, path, line)
        case .credentials(let path): (origin, file) = (.credentials, path)
        }
    }
}
