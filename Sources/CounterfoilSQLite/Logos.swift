public import CounterfoilServer
import Foundation
import GRDB

extension SQLiteStore {
    /// The picture of an identifier, of an application or of the site.
    public func logo(_ id: LogoIdentifier) async throws(StoreFault) -> Logo? {
        try read { database in
            try database.first("SELECT media_type, bytes FROM logos WHERE id = ?", id.rawValue) { columns in
                Logo(format: try columns.value(Logo.Format.init(rawValue:)), bytes: try columns.bytes())
            }
        }
    }
}

extension Database {
    /// Keeps a picture, once however many use it; its identifier.
    func keep(_ logo: Logo?) throws -> LogoIdentifier? {
        guard let logo else { return nil }
        try run(
            "INSERT INTO logos (id, media_type, bytes) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
            logo.id.rawValue,
            logo.format.rawValue,
            Data(logo.bytes)
        )
        return logo.id
    }

    /// The identifier of the picture after a change, whose bytes are kept now.
    func logo(after change: LogoChange, former: LogoIdentifier?) throws -> LogoIdentifier? {
        switch change {
        case .keep: former
        case .remove: nil
        case .replace(let logo): try keep(logo)
        }
    }

    /// Removes a picture that no application and not the site uses any more.
    func removeLogoIfUnused(_ id: LogoIdentifier?) throws {
        guard let id else { return }
        try run(
            """
            DELETE FROM logos WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM clients WHERE logo = ?1)
                AND NOT EXISTS (SELECT 1 FROM branding WHERE logo = ?1)
            """,
            id.rawValue
        )
    }
}
