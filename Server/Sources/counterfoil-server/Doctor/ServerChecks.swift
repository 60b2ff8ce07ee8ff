import CounterfoilPostgreSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

extension ServerFindings {
    /// Compares the settings of the servers that run on a database.
    mutating func judgeServers(_ servers: [ServerOnDatabase]) {
        let differences = SettingDifference.all(among: servers)
        for difference in differences {
            fault(
                "settings-differ", "the servers on the database have different values of \(difference.text)",
                mend: "give each server the same settings, and restart or reload those with another value")
        }
        let names = servers.map(\.name).sorted().joined(separator: ", ")
        if servers.isEmpty {
            sound("servers", "no server runs on the database")
        } else if differences.isEmpty {
            sound("servers", "the servers on the database have the same settings: \(names)")
        }
    }

    /// The space in a SQLite database in bytes that is worth a note, if it is half of the database.
    private static let freeSpace = 1 << 30

    /// Judges the space in a SQLite database that deleted records have left.
    mutating func judgeSpace(_ space: StoreSpace) {
        guard let free = space.free else { return }
        let text = "of the database of \(ByteCount(space.database)), \(ByteCount(free)) are free for new records"
        if free >= Self.freeSpace, free >= space.database / 2 {
            advise(
                "store-space", text,
                mend: "nothing, if the database grows again; to make the file smaller, restore a backup of it")
        } else {
            sound("store-space", text)
        }
    }

    /// Judges what still needs the server keys besides the current one.
    mutating func judgeServerKeys(_ keys: [ServerKeyState]) {
        for key in keys.dropFirst() {
            let needs = key.needs.map(\.words).joined(separator: "; ")
            switch key.state {
            case .missing:
                advise(
                    "server-key-missing",
                    "the former server key \(key.fingerprint) is not listed, and needed by \(needs)",
                    mend: "add it as the last key; if it was stolen, these users must sign in again")
            case .former where key.needs.isEmpty:
                advise(
                    "server-key-unneeded", "nothing needs the former server key \(key.fingerprint)",
                    mend: "leave it out at each server, and keep it with the backups from before the change")
            case .current, .former, .next: sound("server-key", key.lines.joined(separator: "; "))
            }
        }
    }
}
