/// The type of a setting in the JSON Schema of the settings file (draft 2020-12).
struct SettingSchema: Sendable {
    private enum Member: Sendable {
        case text(String)
        case number(Int)
        case texts([String])
        case schema([SettingSchema])
    }

    private var members: [String: Member]

    /// Creates the schema of a type of JSON.
    init(_ type: String) { members = ["type": .text(type)] }

    private init(members: [String: Member]) { self.members = members }

    /// A text that is not empty.
    static let notEmpty = SettingSchema(members: ["type": .text("string"), "minLength": .number(1)])

    /// A text of a regular expression (ECMA-262).
    static func text(_ pattern: String) -> SettingSchema {
        SettingSchema(members: ["type": .text("string"), "pattern": .text(pattern)])
    }

    static func integer(_ range: ClosedRange<Int>) -> SettingSchema {
        SettingSchema(members: [
            "type": .text("integer"), "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound),
        ])
    }

    static func choice(_ values: [String]) -> SettingSchema { SettingSchema(members: ["enum": .texts(values)]) }

    static func anyOf(_ schemas: [SettingSchema]) -> SettingSchema {
        SettingSchema(members: ["anyOf": .schema(schemas)])
    }

    static func list(of element: SettingSchema) -> SettingSchema {
        SettingSchema(members: ["type": .text("array"), "items": .schema([element])])
    }

    /// The schema as an object of `JSONSerialization`.
    var object: [String: Any] {
        members.reduce(into: [:]) { object, member in
            object[member.key] =
                switch member.value {
                case .text(let text): text
                case .number(let number): number
                case .texts(let texts): texts
                case .schema(let schemas):
                    member.key == "items" ? schemas.first?.object ?? [:] : schemas.map(\.object) as Any
                }
        }
    }
}
