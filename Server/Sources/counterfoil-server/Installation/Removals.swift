import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

extension Installation {
    /// The maximum number of records that one transaction deletes.
    ///
    /// Small transactions let a running server write in between.
    private static let removalBatch = 500

    /// Deletes the records that are left of deleted users and apps, in transactions of a limited size.
    func finishRemovals() async throws {
        do {
            while try await store.continueRemovals(atMost: Self.removalBatch) > 0 {
                try await Task.sleep(for: .milliseconds(20))
            }
        } catch let fault as StoreFault {
            throw CommandFailure.temporary(
                "records of a deleted user or app are left: \(fault); none of them gives access to anything, and a "
                    + "running server deletes them within a minute, as does its next start")
        }
    }
}
