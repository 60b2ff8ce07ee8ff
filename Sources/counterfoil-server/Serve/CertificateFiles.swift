import CounterfoilWeb
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// The two files of a certificate, which another program renews.
struct CertificateFiles: Sendable {
    let certificate: String
    let key: String
    /// The hosts that the certificate must name.
    let hosts: [String]

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

    /// Returns true if every user of the machine can read a file.
    private static func isReadableByAll(_ path: String) -> Bool {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return ((attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0) & 0o004 != 0
    }

    /// Reads and checks the files.
    ///
    /// A key that every user of the machine can read is refused.
    func load(at now: Date = Date()) async throws(CommandFailure) -> ServerCertificate {
        let chain = try text(of: certificate, for: "--tls-certificate")
        if Self.isReadableByAll(key) {
            throw .refused("--tls-key: every user can read \(key); remove that permission (chmod o-r)")
        }
        let key = try text(of: key, for: "--tls-key")
        do {
            return try await ServerCertificate(chain: chain, key: key, hosts: hosts, at: now)
        } catch {
            switch error {
            case .noKey, .keyOfAnother: throw .refused("--tls-key \(self.key): \(error)")
            default: throw .refused("--tls-certificate \(certificate): \(error)")
            }
        }
    }

    private func text(of path: String, for option: String) throws(CommandFailure) -> String {
        do { return try InputFile.text(at: path, limit: Self.limit) } catch {
            throw .refused("\(option): \(error.message)")
        }
    }
}

/// The service that replaces the certificate of a running server when its files change, and on SIGHUP.
///
/// Files that fail the check change nothing.
struct CertificateRenewal: Service {
    let current: CurrentCertificate
    private let files: CertificateFiles
    /// The state of the files when the current certificate was read.
    private let stamp: CertificateFiles.Stamp
    /// The signals since this value was created; without the source, SIGHUP would end the process.
    private let signals: UnixSignalsSequence
    private let manager: ServiceManager
    private let logger: Logger

    /// Reads the files; throws ``CommandFailure`` if the certificate cannot be used.
    init(_ files: CertificateFiles, manager: ServiceManager, logger: Logger) async throws {
        self.files = files
        self.manager = manager
        self.logger = logger
        signals = await UnixSignalsSequence(trapping: .sighup)
        stamp = files.stamp
        current = CurrentCertificate(try await files.load())
    }

    /// The time between two looks at the files.
    private static let interval = Duration.seconds(10)

    private enum Cause { case time, signal }

    func run() async throws {
        // A signal that waits is not displaced by a look.
        let (looks, sender) = AsyncStream.makeStream(of: Cause.self, bufferingPolicy: .bufferingOldest(8))
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in signals { sender.yield(.signal) }
                }
                group.addTask {
                    while (try? await Task.sleep(for: Self.interval)) != nil { sender.yield(.time) }
                    sender.finish()
                }
                var (known, seen) = (stamp, stamp)
                // The error of the files as they are; nil if the current certificate is theirs.
                var failure: String?
                for await cause in looks {
                    let new = files.stamp
                    // Files that are being replaced one after the other are read at the next look.
                    let isSettled = new == seen
                    seen = new
                    // Files that were refused can become valid without a change.
                    guard cause == .signal || isSettled && (new != known || failure != nil) else { continue }
                    let reported = new == known ? failure : nil
                    failure =
                        cause == .signal
                        ? await manager.reloading { await replace(after: reported) }
                        : await replace(after: reported)
                    known = new
                }
                group.cancelAll()
            }
        }
    }

    /// Replaces the certificate by that of the files; returns the error if they cannot be used.
    ///
    /// An error that was reported for the same files is not reported again.
    private func replace(after reported: String?) async -> String? {
        do {
            let certificate = try await files.load()
            current.replace(by: certificate)
            logger.notice("replaced the certificate", metadata: ["expires": "\(certificate.expires.ISO8601Format())"])
            return nil
        } catch {
            guard error.message != reported else { return reported }
            current.noteFailure()
            logger.error(
                "refused the new certificate; the former one stays in use", metadata: ["error": "\(error.message)"])
            return error.message
        }
    }
}
