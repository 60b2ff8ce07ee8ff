import CounterfoilServer
import CounterfoilStore

/// An environment variable with the prefix of the settings that neither is a setting nor belongs to another program of
/// Counterfoil.
///
/// It is a warning and no error, because another program can use the prefix.
struct UnknownVariable: Sendable, Hashable {
    let name: String
    /// The known variable whose name differs least; nil if all differ much.
    let nearest: String?

    private static let prefix = Settings.variable(of: "")

    /// The variables that are no settings: those of the server, of its nightly copy, and of the program `counterfoil`.
    private static let others = [
        ServerKey.variable, SettingSources.variable, "COUNTERFOIL_BACKUP_DIRECTORY", "COUNTERFOIL_BACKUP_KEEP",
        "COUNTERFOIL_CONFIG", "COUNTERFOIL_PROFILE", "COUNTERFOIL_STORE", "COUNTERFOIL_TOKEN",
        "COUNTERFOIL_TOKEN_EXPIRES", "COUNTERFOIL_TOKEN_FILE", "COUNTERFOIL_TOKEN_TYPE",
    ]

    /// Returns the unknown variables of an environment, sorted by name.
    static func all(in environment: [String: String]) -> [UnknownVariable] {
        let known = Set(Settings.all.map(\.variable) + others)
        let candidates = known.sorted().map { String($0.dropFirst(prefix.count)) }
        return environment.filter { name, value in
            name.hasPrefix(prefix) && !known.contains(name) && name.allSatisfy(isOfName)
                && !isOfService(name, value)
        }.keys.sorted().map { name in
            let text = String(name.dropFirst(prefix.count))
            let nearest = SettingName.nearest(to: text, among: candidates, within: max(2, text.count / 3))
            return UnknownVariable(name: name, nearest: nearest.map { prefix + $0 })
        }
    }

    /// The action to take.
    var advice: String {
        nearest.map { "the nearest known name is \($0)" } ?? "counterfoil-server config schema lists all settings"
    }

    private static func isOfName(_ character: Character) -> Bool {
        character == "_" || character.isASCII && (character.isLetter || character.isNumber)
    }

    /// Returns true for a variable that Kubernetes sets for a Service with the name `counterfoil`.
    private static func isOfService(_ name: String, _ value: String) -> Bool {
        if name.contains(/_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/) { return true }
        if name.contains(/_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/) { return true }
        return name.hasSuffix("_PORT") && value.contains("://")
    }
}
