/// Who is told by a context what was changed in it, before the call returns.
protocol ContextFollower: AnyObject {
  /// Something was changed.
  func take(_ notice: ChangeNotice)
  /// There will be no more changes.
  func end(_ reason: any Error)
  /// What was unsaved is stored, under these versions; what it says was told before.
  func didSave(_ versions: [RowKey: Int64])
}

/// A follower that its context does not keep.
struct WeakFollower {
  weak var follower: (any ContextFollower)?
}
