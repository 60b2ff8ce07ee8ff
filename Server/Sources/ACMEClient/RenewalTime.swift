package import Foundation
import SwiftASN1
import X509

/// The time at which a certificate is renewed.
package enum RenewalTime {
    /// The lifetime in seconds below which a certificate is renewed after half of it.
    private static let short: TimeInterval = 10 * 86_400

    /// Returns the time at which a certificate is renewed.
    ///
    /// With renewal information of the authority, it is within the suggested window (RFC 9773 §4.2). Otherwise it is
    /// after two thirds of the lifetime, or a little before, so that many servers do not renew at once.
    ///
    /// - Parameters:
    ///   - validity: The time in which the certificate is valid.
    ///   - information: The renewal information; nil if there is none.
    ///   - draw: A random number from 0 to 1, which stays the same for a certificate.
    package static func of(
        validity: ClosedRange<Date>, information: RenewalInformation?, draw: Double
    ) -> Date {
        if let information, information.start < validity.upperBound {
            let time = information.start + information.end.timeIntervalSince(information.start) * draw
            return min(time, validity.upperBound)
        }
        let lifetime = validity.upperBound.timeIntervalSince(validity.lowerBound)
        let part = lifetime < short ? 1.0 / 2 : 2.0 / 3
        return validity.lowerBound + lifetime * (part - 0.03 * draw)
    }

    /// Returns the time before which the next certificate is not ordered, unless an operator requests it.
    ///
    /// A wrong clock, or a window of the authority that has passed, would otherwise cause one order after the other.
    package static func earliest(after storedAt: Date, validity: ClosedRange<Date>) -> Date {
        storedAt + min(3600, validity.upperBound.timeIntervalSince(validity.lowerBound) / 4)
    }

    /// Returns the time in seconds until the renewal information is read again (RFC 9773 §4.3).
    ///
    /// - Parameter retryAfter: The time that the authority has named; nil if it has named none, or after a failure.
    package static func nextLook(retryAfter: TimeInterval?) -> TimeInterval {
        min(max(retryAfter ?? 6 * 3600, 60), 86_400)
    }
}

/// A certificate as its authority knows it.
package struct CertificateIdentity: Sendable, Hashable {
    /// The identifier of the certificate for renewal information (RFC 9773 §4.1); nil if the certificate does not name
    /// the key of its issuer.
    package let identifier: String?
    /// The time in which it is valid.
    package let validity: ClosedRange<Date>

    /// Reads the first certificate of a chain in PEM format; nil if there is none.
    package init?(chain: String) {
        let end = "-----END CERTIFICATE-----"
        guard let last = chain.range(of: end)?.upperBound,
            let leaf = try? Certificate(pemEncoded: String(chain[..<last])), leaf.notValidBefore <= leaf.notValidAfter
        else { return nil }
        validity = leaf.notValidBefore...leaf.notValidAfter
        let key = (try? leaf.extensions.authorityKeyIdentifier)?.keyIdentifier
        identifier = key.map { Self.identifier(ofKey: $0, serialNumber: leaf.serialNumber.bytes) }
    }

    /// Returns the identifier from the key identifier of the issuer and the serial number.
    package static func identifier(
        ofKey key: some Collection<UInt8>, serialNumber: some Collection<UInt8>
    ) -> String {
        var number = Array(serialNumber.drop { $0 == 0 })
        // The serial number is an INTEGER, whose first bit is its sign.
        if number.first.map({ $0 >= 0x80 }) ?? true { number.insert(0, at: 0) }
        return Base64URL.encode(key) + "." + Base64URL.encode(number)
    }
}
