public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads a logo of a client or of the branding; nil if no logo with this identifier is stored.
    public func logo(_ id: LogoIdentifier) async throws(StoreFault) -> Logo? {
        try await read { database in
            try database.first("SELECT media_type, bytes FROM logos WHERE id = ?", id.rawValue) { columns in
                columns.record = "logo"
                return Logo(format: try columns.word(Logo.Format.init(rawValue:)), bytes: try columns.bytes())
            }
        }
    }
}

extension SQLConnection {
    /// Stores a logo, unless the same logo is already stored, and returns its identifier.
    func keep(_ logo: Logo?) throws -> LogoIdentifier? {
        guard let logo else { return nil }
        try send(
            "INSERT INTO logos (id, media_type, bytes) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING",
            logo.id.rawValue,
            logo.format.rawValue,
            Data(logo.bytes)
        )
        return logo.id
    }

    /// Applies a change of a logo, and returns the identifier of the logo to use afterwards; nil for none.
    func logo(after change: LogoChange, former: LogoIdentifier?) throws -> LogoIdentifier? {
        switch change {
        case .keep: former
        case .remove: nil
        case .replace(let logo): try keep(logo)
        }
    }

    /// Deletes a logo, unless a client or the branding still uses it.
    func removeLogoIfUnused(_ id: LogoIdentifier?) throws {
        guard let id else { return }
        try send(
            """
            DELETE FROM logos WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM clients WHERE logo = ?1)
                AND NOT EXISTS (SELECT 1 FROM branding WHERE logo = ?1)
            """,
            id.rawValue
        )
    }
}
