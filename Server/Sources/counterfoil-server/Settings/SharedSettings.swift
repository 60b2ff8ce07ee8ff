import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// The settings that the servers on one database must have alike, as texts by the names of the options.
///
/// Each of them changes an answer, so that with different values an answer depends on the server that gives it. The
/// others are those of the machine of a server, and of what is around it.
struct SharedSettings: Sendable, Hashable {
    /// The texts by the names of the settings; none contains a secret.
    let texts: [String: String]

    /// The name of the server keys among the settings: their fingerprints, the current one first.
    static let serverKey = "server-key"

    init(texts: [String: String]) { self.texts = texts }

    /// - Parameters:
    ///   - settings: The settings in use.
    ///   - serverKey: The server key, of which only the fingerprints are taken.
    init(_ settings: ServerSettings, serverKey: ServerKey) {
        var texts: [String: String] = [:]
        for setting in Settings.options { texts[setting.name] = setting.shared?(settings) }
        texts[Self.serverKey] = serverKey.fingerprints.joined(separator: " ")
        self.texts = texts
    }
}

/// A running server on a database, and its settings.
struct ServerOnDatabase: Sendable, Hashable, Codable {
    /// The name of the machine.
    let host: String
    /// The identifier of the process on the machine.
    let process: Int32
    /// The texts of ``SharedSettings``.
    let settings: [String: String]

    /// The machine and the process.
    var name: String { Self.name(host: host, process: process) }

    static func name(host: String, process: Int32) -> String { "\(host) (process \(process))" }
}

/// A setting that has not the same value at every server.
struct SettingDifference: Sendable, Hashable {
    let setting: String
    /// The names of the servers by the value of the setting.
    let servers: [String: [String]]

    /// Compares the settings of servers; the result is in the order of the names.
    ///
    /// A setting that a server of another version does not have is not compared with it.
    static func all(among servers: [ServerOnDatabase]) -> [SettingDifference] {
        Set(servers.flatMap(\.settings.keys)).sorted().compactMap { setting in
            var names: [String: [String]] = [:]
            for server in servers {
                if let value = server.settings[setting] { names[value, default: []].append(server.name) }
            }
            return names.count > 1 ? SettingDifference(setting: setting, servers: names.mapValues { $0.sorted() }) : nil
        }
    }

    /// The values with their servers, the value of the most servers first.
    var text: String {
        let values = servers.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        return "\(setting): "
            + values.map { "\(Self.shown($0.key)) at \($0.value.joined(separator: ", "))" }.joined(separator: "; ")
    }

    /// The setting and its values, without the servers.
    var values: [String] { [setting] + servers.keys.sorted() }

    private static func shown(_ value: String) -> String {
        value.isEmpty ? "none" : value.count > 100 ? value.prefix(100) + "…" : value
    }
}
