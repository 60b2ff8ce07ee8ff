import ACMEClient
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The certificate of the administration API in text output.
enum CertificateOutput {
    /// Returns the certificate and the failed orders as lines.
    static func lines(of certificate: AdministrationRecord) -> [String] {
        func shown(_ name: String, in record: AdministrationRecord) -> DisplayName? {
            record.text(name).map { DisplayName($0) }
        }
        var lines: [String] = []
        let authority = certificate.text("authority").map { VisibleText(of: $0.unicodeScalars.prefix(400)) }
        if let start = shown("valid_from", in: certificate), let end = shown("valid_until", in: certificate) {
            let origin = authority.map { String($0.scalars) } ?? "none; the certificate is in files of the server"
            lines = ["authority:    \(origin)", "valid from:   \(start)", "valid until:  \(end)"]
        } else {
            lines.append(
                authority.map { "authority:    \(String($0.scalars))" }
                    ?? "There is no certificate of an authority yet.")
        }
        if certificate.flag("renewal_requested") {
            lines.append("A new certificate was requested and is not there yet.")
        }
        if let failed = certificate.record("failed"), let time = shown("failed_at", in: failed),
            let next = shown("next_order_from", in: failed)
        {
            let count = failed.integer("count") ?? 1
            lines.append(
                (count == 1 ? "An order failed at " : "\(count) orders failed, most recently at ")
                    + "\(time); the log of the server says why. The server orders again after \(next).")
        }
        return lines
    }
}

extension CertificateDocument {
    /// Creates the document of the stored certificate and the failed orders.
    init(_ issued: IssuedCertificate?, failed: FailedOrders?) {
        let validity = issued.flatMap { CertificateIdentity(chain: $0.chain)?.validity }
        self.init(
            InstallationState.Certificate(
                authority: issued?.authority,
                validity: validity.map { DateInterval(start: $0.lowerBound, end: $0.upperBound) },
                isRenewalRequested: issued?.isRenewalRequested ?? false, failed: failed))
    }
}
