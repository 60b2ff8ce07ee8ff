import CounterfoilSQL
import CounterfoilServer
import GRDB

extension Migration {
    /// Removes registered origins that no browser sends, such as those with a wildcard.
    ///
    /// Until this step, such an origin could be registered, although it matched no request. A client that still had
    /// one could not be read.
    static let browserOrigins = Migration { database in
        let clients = try database.connection.all("SELECT id, origins FROM clients") { columns in
            (id: try columns.text(), origins: try columns.text())
        }
        for client in clients {
            let kept = client.origins.split(separator: " ").filter { RegisteredOrigin(String($0)) != nil }
                .joined(separator: " ")
            guard kept != client.origins else { continue }
            try database.connection.send("UPDATE clients SET origins = ?2 WHERE id = ?1", client.id, kept)
        }
    }
}
