import CounterfoilStore
import Foundation

/// The certificate of the server and its failed orders, in answers of the administration API and in the output of
/// commands.
package struct CertificateDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case authority, failed
        case validFrom = "valid_from"
        case validUntil = "valid_until"
        case isRenewalRequested = "renewal_requested"
    }

    private struct Failure: Encodable {
        let count: Int
        let failedAt: String
        let nextOrderFrom: String

        private enum CodingKeys: String, CodingKey {
            case count
            case failedAt = "failed_at"
            case nextOrderFrom = "next_order_from"
        }
    }

    private let authority: String?
    private let validFrom: String?
    private let validUntil: String?
    private let isRenewalRequested: Bool
    private let failed: Failure?

    package init(_ certificate: InstallationState.Certificate) {
        authority = certificate.authority
        validFrom = certificate.validity.map { Moment.text($0.start) }
        validUntil = certificate.validity.map { Moment.text($0.end) }
        isRenewalRequested = certificate.isRenewalRequested
        failed = certificate.failed.map {
            Failure(
                count: $0.count, failedAt: Moment.text($0.failedAt), nextOrderFrom: Moment.text($0.retryAt))
        }
    }
}
