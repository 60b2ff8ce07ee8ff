import CounterfoilWeb
import Foundation
import HTTPListener
import Logging
import ServiceLifecycle

/// The two files of a certificate, which another program renews.
struct CertificateFiles: Sendable {
    let certificate: String
    let key: String
    /// The hosts that the certificate must name.
    var hosts: [String]

    /// The absolute path of the key.
    var keyPath: String { URL(fileURLWithPath: key).standardizedFileURL.path }

    /// The maximum size of a file in bytes.
    private static let limit = 1 << 20

    /// What shows that a file has changed: its place on the disk, size, time and owner, and who can read it.
    ///
    /// A file that is missing has none of it.
    struct Stamp: Equatable, Sendable {
        fileprivate struct State: Equatable {
            let numbers: [Int?]
            let changed: Date?
        }

        fileprivate let states: [State?]
    }

    /// Returns whether the paths are the same as those of other files.
    func isSame(as other: CertificateFiles) -> Bool { certificate == other.certificate && key == other.key }

    /// The current state of the files.
    var stamp: Stamp { Stamp(states: [certificate, key].map(Self.state(of:))) }

    private static func state(of path: String) -> Stamp.State? {
        // A link leads to the file of the last renewal.
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file) else { return nil }
        let keys: [FileAttributeKey] = [
            .systemFileNumber, .size, .posixPermissions, .ownerAccountID, .groupOwnerAccountID,
        ]
        return Stamp.State(
            numbers: keys.map { (attributes[$0] as? NSNumber)?.intValue },
            changed: attributes[.modificationDate] as? Date)
    }

    /// Reads and checks the files.
    ///
    /// A key that every user can read, or that others than its owner can change, is refused.
    ///
    /// - Parameter words: The function that names the places of the settings in an error message.
    func load(_ words: SettingMessageRenderer) async throws(CommandFailure) -> ServerCertificate {
        let (certificateName, keyName) = (words("\(Settings.tlsCertificate)"), words("\(Settings.tlsKey)"))
        let chain = try RegularFile.text(at: certificate, for: certificateName, limit: Self.limit)
        let key = try RegularFile.text(at: key, for: keyName, limit: Self.limit, isSecret: true)
        do {
            return try await ServerCertificate(chain: chain, key: key, hosts: hosts, at: Date())
        } catch {
            switch error {
            case .noKey, .keyOfAnother: throw .refused("\(keyName) \(self.key): \(error)")
            default: throw .refused("\(certificateName) \(certificate): \(error)")
            }
        }
    }
}

/// The service that replaces the certificate of a running server when its files change, and when it is told to look.
///
/// Files that fail the check change nothing.
struct CertificateRenewal: Service {
    /// The files in use, and their state when they were read.
    private struct Reading {
        var files: CertificateFiles
        var stamp: CertificateFiles.Stamp
        /// The error of the files as they are; nil if the current certificate is theirs.
        var failure: String?
    }

    let current: CurrentCertificate
    private let reading: SharedValue<Reading>
    private let words: SettingMessageRenderer
    private let logger: Logger

    /// Reads the files; throws ``CommandFailure`` if the certificate cannot be used.
    init(_ files: CertificateFiles, words: @escaping SettingMessageRenderer, logger: Logger) async throws {
        self.words = words
        self.logger = logger
        reading = SharedValue(Reading(files: files, stamp: files.stamp))
        let certificate = try await files.load(words)
        current = CurrentCertificate(certificate)
        Self.report(certificate, logger)
    }

    /// Warns of a chain of which this machine knows no issuer.
    private static func report(_ certificate: ServerCertificate, _ logger: Logger) {
        guard let issuer = certificate.unknownIssuer else { return }
        logger.warning(
            "this machine does not know the issuer at the end of the certificate chain; clients may not know it either",
            metadata: ["issuer": "\(issuer)"])
    }

    /// The time between two looks at the files.
    private static let interval = Duration.seconds(10)

    /// The files whose certificate is in use.
    var files: CertificateFiles { reading.value.files }

    /// Reads the files at once, whether they have changed or not.
    func look() async { await read(files.stamp) }

    /// Replaces the certificate by that of other files, which are looked at from now on.
    ///
    /// - Parameter stamp: The state of the files before they were read.
    func use(_ files: CertificateFiles, in stamp: CertificateFiles.Stamp, with certificate: ServerCertificate) {
        reading.change { $0 = Reading(files: files, stamp: stamp) }
        replace(by: certificate)
    }

    private func replace(by certificate: ServerCertificate) {
        current.replace(by: certificate)
        logger.notice("replaced the certificate", metadata: ["expires": "\(certificate.expires.ISO8601Format())"])
        Self.report(certificate, logger)
    }

    /// Returns whether these files, or their state, differ from those whose certificate is in use.
    func isNew(_ files: CertificateFiles) -> Bool {
        let used = reading.value
        return !files.isSame(as: used.files) || files.hosts != used.files.hosts || files.stamp != used.stamp
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var seen = reading.value.stamp
            while (try? await Task.sleep(for: Self.interval)) != nil {
                let new = files.stamp
                // Files that are being replaced one after the other are read at the next look.
                let isSettled = new == seen
                seen = new
                let known = reading.value
                // Files that were refused can become valid without a change.
                if isSettled, new != known.stamp || known.failure != nil { await read(new) }
            }
        }
    }

    /// Reads the files, and replaces the certificate if they can be used.
    ///
    /// An error that was reported for the same files is not reported again.
    private func read(_ stamp: CertificateFiles.Stamp) async {
        let known = reading.value
        var failure: String?
        do {
            let certificate = try await known.files.load(words)
            // Meanwhile the settings may have named other files, whose certificate is in use.
            guard files.isSame(as: known.files) else { return }
            replace(by: certificate)
        } catch {
            failure = error.message
            if stamp != known.stamp || failure != known.failure {
                current.noteFailure()
                logger.error(
                    "refused the new certificate; the former one stays in use",
                    metadata: ["error": "\(error.message)"])
            }
        }
        let result = failure
        reading.change { reading in
            guard reading.files.isSame(as: known.files) else { return }
            (reading.stamp, reading.failure) = (stamp, result)
        }
    }
}
