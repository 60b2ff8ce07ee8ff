import CounterfoilServer
package import CounterfoilStore
package import Foundation
package import HTTPListener

/// The sources of the metrics besides the counters of a server; the metrics of a source that is nil are absent.
package struct MetricsSources: Sendable {
    package var connections: OpenConnections?
    package var certificate: CurrentCertificate?
    /// The failed orders of the certificate; nil if none is ordered.
    package var orders: OrderFailureCounts?
    /// Reads the measurements of the store.
    package var store: (@Sendable () -> StoreMeasurements)?
    /// Returns the failures to write the endings journal, and the seconds since it was complete; nil without one.
    package var endingsJournal: (@Sendable () -> (failures: Int, age: Double))?
    /// Returns the number of settings that servers on the same database have differently; nil with a data directory.
    package var differingSettings: (@Sendable () -> Int)?
    /// Reads the sizes of the database; nil if it does not answer.
    package var storeSpace: (@Sendable () async -> StoreSpace?)?
    /// The path of the endings journal, whose files and file system are measured; nil without one.
    package var endingsJournalPath: String?
    /// The path of the data directory, whose file system is measured.
    package var dataDirectory: String?
    /// Returns the time of the last finished backup; nil if there is none.
    package var lastBackup: (@Sendable () -> Date?)?
    /// Returns the number of spans that were dropped; nil without traces.
    package var droppedSpans: (@Sendable () -> Int)?

    package init(connections: OpenConnections? = nil, certificate: CurrentCertificate? = nil) {
        self.connections = connections
        self.certificate = certificate
    }
}
