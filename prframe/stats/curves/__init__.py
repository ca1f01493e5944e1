"""Precision-recall and ROC curves with bands."""
