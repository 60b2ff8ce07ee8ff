/// The names of settings in a settings file.
enum SettingName {
    /// An error for a name that is no setting, or for its value.
    struct Refusal: Error {
        /// The line of the value; nil for that of the name.
        let line: Int?
        let reason: String
    }

    /// Returns the setting with a name.
    static func setting(named name: String) throws(Refusal) -> any AnySetting {
        guard let setting = Settings.named[name] else { throw Refusal(line: nil, reason: reason(against: name)) }
        if let place = setting.administration {
            throw Refusal(line: nil, reason: "\(name) is no setting of the file; set it at \(place)")
        }
        return setting
    }

    private static func reason(against name: String) -> String {
        if name == "config" { return "config is no setting of the file; a settings file cannot name another one" }
        let secrets = ["server-key", "password", "passphrase", "secret", "token", "private-key", "hmac"]
        if secrets.contains(where: name.lowercased().contains), nearest(to: name, within: 2) == nil {
            return "\(shown(name)) is no setting of the file, which must not contain a secret. Give the server key in "
                + "$CREDENTIALS_DIRECTORY/server-key, in the environment variable COUNTERFOIL_SERVER_KEY, or in a file "
                + "(server-key-file), and the password of a database in a file (passfile=PATH in its connection string)"
        }
        let unknown = "unknown setting \(shown(name))"
        guard let nearest = nearest(to: name, within: max(2, name.count / 3)) else {
            return unknown + "; counterfoil-server config schema lists all settings"
        }
        return unknown + "; the nearest one is \(nearest)"
    }

    /// A name of the file for an error message.
    private static func shown(_ name: String) -> String {
        name.count <= 60 ? name : name.prefix(60) + "…"
    }

    /// Returns the setting whose name differs least; nil if all differ more than `limit`.
    static func nearest(to name: String, within limit: Int) -> String? {
        nearest(to: name, among: Settings.all.map(\.name), within: limit)
    }

    /// Returns the name that differs least; nil if all differ more than `limit`.
    ///
    /// Upper and lower case are equal, and so are `_` and `-`.
    static func nearest(to name: String, among names: [String], within limit: Int) -> String? {
        let text = characters(of: name)
        let distances = names.map { (name: $0, distance: distance(text, characters(of: $0))) }
        return distances.min { $0.distance < $1.distance }.flatMap { $0.distance <= limit ? $0.name : nil }
    }

    private static func characters(of name: String) -> [Character] {
        Array(name.prefix(100).lowercased().map { $0 == "_" || $0 == " " ? "-" : $0 })
    }

    /// The smallest number of characters to insert, delete or replace that makes one text the other.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (i, character) in one.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, candidate) in other.enumerated() {
                let replaced = diagonal + (character == candidate ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[other.count]
    }
}
