import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

@testable import counterfoil_server

/// The output of `counterfoil-server certificate show`.
struct CertificateOutputTests {
    @Test(arguments: [(1, "An order failed at "), (3, "3 orders failed, most recently at ")])
    func `failed orders are one sentence with the time of the last one`(count: Int, start: String) throws {
        let failed = FailedOrders(
            settings: try #require(ArtefactDigest(stored: [UInt8](repeating: 7, count: 32))),
            authority: "https://ca.example.com/directory", count: count,
            failedAt: Date(timeIntervalSince1970: 1_800_000_000),
            retryAt: Date(timeIntervalSince1970: 1_800_000_900), isImposed: false)
        #expect(
            try CertificateOutput.lines(of: AdministrationRecord(of: CertificateDocument(nil, failed: failed))) == [
                "There is no certificate of an authority yet.",
                start + "2027-01-15T08:00:00Z; the log of the server says why. The server orders again after "
                    + "2027-01-15T08:15:00Z.",
            ])
    }
}
